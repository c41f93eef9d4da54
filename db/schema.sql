-- The store of Kiln, version 2. STRICT throughout; keys are digests, never indices or names; failures are rows like successes;
-- "best" is a query (db/verdict), never a column. Tables WITHOUT ROWID begin with their key's columns, in its order: SQLite 3.40's
-- integrity_check reports NULLs that are not there otherwise. Times are RFC 3339 UTC with milliseconds, so that text order is time order.
PRAGMA application_id = 0x4b494c4e;  -- "KILN"
PRAGMA user_version = 2;

-- Bytes whose content's SHA-256 is their name: finalists' objects, algorithms as JSON. An export needs nothing beside this file.
CREATE TABLE artifact (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  kind TEXT NOT NULL CHECK (kind IN ('object', 'cubin', 'algorithm', 'launch')),
  bytes BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Why a candidate went no further: the stable words, in the order in which they are shown.
CREATE TABLE reason (word TEXT PRIMARY KEY, place INTEGER NOT NULL UNIQUE) STRICT, WITHOUT ROWID;
INSERT INTO reason (place, word) VALUES
  (1, 'schedule_error'), (2, 'over_shared'), (3, 'over_registers'), (4, 'over_threads'), (5, 'over_scratch'), (6, 'over_grid'),
  (7, 'bad_alignment'), (8, 'numerics'), (9, 'spills'), (10, 'compile_error'), (11, 'compile_timeout'), (12, 'compiler_crash'),
  (13, 'emulator_fault'), (14, 'wrong_result'), (15, 'nondeterministic'), (16, 'run_error'), (17, 'run_timeout'), (18, 'worker_crash'),
  (19, 'device_lost'), (20, 'implausible'), (21, 'cut_slow'), (22, 'same_as_build');

-- What is computed, without extents, estimates and schedule.
CREATE TABLE algorithm (
  algorithm_id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  generator TEXT NOT NULL,
  text TEXT NOT NULL,
  contract TEXT NOT NULL CHECK (contract IN ('strict', 'fixed_tree', 'bounded', 'free')),
  halide_version TEXT NOT NULL,
  json_hash BLOB NOT NULL REFERENCES artifact
) STRICT;

-- What is called: algorithm, extents, dimension orders.
CREATE TABLE problem (
  problem_id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  algorithm_id INTEGER NOT NULL REFERENCES algorithm,
  operator TEXT NOT NULL,
  text TEXT NOT NULL,
  extents TEXT NOT NULL CHECK (json_valid(extents)),
  params TEXT NOT NULL CHECK (json_valid(params)),
  orders TEXT NOT NULL CHECK (json_valid(orders)),
  flops REAL,
  bytes REAL
) STRICT;
CREATE INDEX problem_by_operator ON problem (operator);

-- Where. `text` is the whole description; the columns are for queries.
CREATE TABLE device (
  device_id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  kind TEXT NOT NULL CHECK (kind IN ('cpu', 'cuda')),
  vendor TEXT NOT NULL,
  model TEXT NOT NULL,
  arch TEXT NOT NULL,
  text TEXT NOT NULL,
  units INTEGER NOT NULL CHECK (units > 0),
  l1_bytes INTEGER, l2_bytes INTEGER, l3_bytes INTEGER, shared_bytes INTEGER, memory_bytes INTEGER
) STRICT;

-- With what: compilers, flags, codegen_version. The git revision and the driver are columns of run.
CREATE TABLE toolchain (
  toolchain_id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
  text TEXT NOT NULL
) STRICT;

-- How times were taken, thread count included. Times compare only within one.
CREATE TABLE protocol (protocol_id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;

-- A schedule as replayable text. A candidate is (problem, schedule, device) and has no table of its own.
CREATE TABLE schedule (
  schedule_id INTEGER PRIMARY KEY,
  algorithm_id INTEGER NOT NULL REFERENCES algorithm,
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  text TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('own', 'autoscheduler', 'unscheduled', 'hand', 'seed', 'exhaustive', 'random', 'local', 'model',
                                         'neighbour', 'proposer')),
  numerics_class TEXT NOT NULL CHECK (numerics_class IN ('none', 'reorders', 'partial_sums', 'contracts', 'approximates', 'any_order',
                                                               'unknown')),
  space TEXT,
  space_version INTEGER,
  point TEXT CHECK (point IS NULL OR json_valid(point)),
  parent_id INTEGER REFERENCES schedule,
  CHECK ((space IS NULL) = (space_version IS NULL)),
  UNIQUE (algorithm_id, digest)
) STRICT;
CREATE INDEX schedule_by_digest ON schedule (digest);

-- What a compiler made: one row a build key. `reason` here holds for every problem; what holds for one problem is in build_problem.
CREATE TABLE build (
  build_id INTEGER PRIMARY KEY,
  key BLOB NOT NULL UNIQUE CHECK (length(key) = 32),
  schedule_id INTEGER NOT NULL REFERENCES schedule,
  toolchain_id INTEGER NOT NULL REFERENCES toolchain,
  target TEXT NOT NULL,
  at TEXT NOT NULL,
  symbol TEXT NOT NULL,
  binary_hash BLOB CHECK (binary_hash IS NULL OR length(binary_hash) = 32),
  binary_bytes INTEGER NOT NULL CHECK (binary_bytes >= 0),
  actual TEXT CHECK (actual IS NULL OR json_valid(actual)),
  lower_ms REAL NOT NULL,
  compile_ms REAL NOT NULL,
  log TEXT NOT NULL,
  reason TEXT REFERENCES reason, asked REAL, allowed REAL, detail TEXT,
  CHECK (reason IS NULL OR binary_hash IS NULL),
  CHECK ((reason IS NULL) = (detail IS NULL))
) STRICT;
CREATE INDEX build_by_binary ON build (binary_hash) WHERE binary_hash IS NOT NULL;
CREATE INDEX build_by_schedule ON build (schedule_id);

-- The same build as one problem sees it: the predicted report follows the extents, and so may a rejection.
CREATE TABLE build_problem (
  build_id INTEGER NOT NULL REFERENCES build,
  problem_id INTEGER NOT NULL REFERENCES problem,
  at TEXT NOT NULL,
  predicted TEXT CHECK (predicted IS NULL OR json_valid(predicted)),
  reason TEXT REFERENCES reason, asked REAL, allowed REAL, detail TEXT,
  device_id INTEGER REFERENCES device,  -- whose numbers decided the rejection
  CHECK ((reason IS NULL) = (detail IS NULL)),
  CHECK (device_id IS NULL OR reason IS NOT NULL),
  PRIMARY KEY (build_id, problem_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX build_problem_by_problem ON build_problem (problem_id);

-- One invocation of the tuner. Results of foreign runs are hints that cannot be chosen.
CREATE TABLE run (
  run_id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  origin TEXT NOT NULL CHECK (origin IN ('own', 'foreign')),
  device_id INTEGER NOT NULL REFERENCES device,
  toolchain_id INTEGER NOT NULL REFERENCES toolchain,
  protocol_id INTEGER NOT NULL REFERENCES protocol,
  kiln_git TEXT NOT NULL,
  driver TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running', 'done', 'interrupted', 'failed')),
  started TEXT NOT NULL,
  heartbeat TEXT NOT NULL,
  ended TEXT,
  pid INTEGER NOT NULL,
  pid_started TEXT NOT NULL,
  seed INTEGER NOT NULL,
  budget_s REAL,
  options TEXT NOT NULL CHECK (json_valid(options)),
  CHECK ((state = 'running') = (ended IS NULL))
) STRICT;

CREATE TABLE run_event (
  run_id INTEGER NOT NULL REFERENCES run,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (run_id, at, kind, detail)
) STRICT, WITHOUT ROWID;

-- The A/A test: relative differences below this cannot be seen.
CREATE TABLE noise_floor (
  run_id INTEGER NOT NULL REFERENCES run,
  at TEXT NOT NULL,
  p95_relative REAL NOT NULL CHECK (p95_relative >= 0 AND p95_relative < 1e6),
  load REAL,
  steal REAL,
  PRIMARY KEY (run_id, at, p95_relative)
) STRICT, WITHOUT ROWID;

-- One attempt at one candidate. Committed as 'running' before launch.
CREATE TABLE trial (
  trial_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run,
  problem_id INTEGER NOT NULL REFERENCES problem,
  schedule_id INTEGER NOT NULL REFERENCES schedule,
  attempt INTEGER NOT NULL CHECK (attempt > 0),
  build_id INTEGER REFERENCES build,
  state TEXT NOT NULL CHECK (state IN ('planned', 'running', 'suspect', 'done')),
  outcome TEXT CHECK (outcome IN ('ok', 'rejected')),
  reason TEXT REFERENCES reason, asked REAL, allowed REAL, detail TEXT,
  planned TEXT NOT NULL,
  started TEXT,
  ended TEXT,
  CHECK ((state = 'done') = (outcome IS NOT NULL)),
  CHECK ((outcome IS 'rejected') = (reason IS NOT NULL)),
  CHECK ((reason IS NULL) = (detail IS NULL)),
  CHECK (outcome IS NOT 'ok' OR build_id IS NOT NULL),
  CHECK ((state = 'done') = (ended IS NOT NULL)),
  UNIQUE (run_id, problem_id, schedule_id, attempt)
) STRICT;
CREATE INDEX trial_by_candidate ON trial (problem_id, schedule_id);
CREATE INDEX trial_by_schedule ON trial (schedule_id);
CREATE INDEX trial_by_build ON trial (build_id) WHERE build_id IS NOT NULL;
-- SQLite uses it only for queries that say `state <> 'done'` themselves, beside the state that they mean.
CREATE INDEX trial_unfinished ON trial (state, run_id) WHERE state <> 'done';
CREATE TRIGGER trial_is_final BEFORE UPDATE ON trial WHEN old.state = 'done'
  BEGIN SELECT raise(ABORT, 'a finished trial is never changed'); END;

-- Proof of correctness. Without a passed row of the candidate, or with any failed one, a trial cannot be chosen.
CREATE TABLE verification (
  trial_id INTEGER NOT NULL REFERENCES trial,
  what TEXT NOT NULL CHECK (what IN ('candidate', 'exported')),
  at TEXT NOT NULL,
  reference TEXT NOT NULL,
  passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
  tolerance TEXT NOT NULL,
  cases INTEGER NOT NULL CHECK (cases > 0),
  max_error REAL,
  worst_output TEXT,
  bit_exact INTEGER NOT NULL CHECK (bit_exact IN (0, 1)),
  PRIMARY KEY (trial_id, what, at, reference, passed)
) STRICT, WITHOUT ROWID;

-- Candidates measured interleaved, baseline and incumbent among them.
CREATE TABLE race (
  race_id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  run_id INTEGER NOT NULL REFERENCES run,
  problem_id INTEGER NOT NULL REFERENCES problem,
  protocol_id INTEGER NOT NULL REFERENCES protocol,
  stage TEXT NOT NULL CHECK (stage IN ('screen', 'rank', 'final', 'revalidate')),
  at TEXT NOT NULL,
  baseline_trial_id INTEGER NOT NULL REFERENCES trial,
  incumbent_trial_id INTEGER REFERENCES trial,
  floor REAL CHECK (floor IS NULL OR (floor >= 0 AND floor < 1e6))
) STRICT;
CREATE INDEX race_by_problem ON race (problem_id, protocol_id, stage);
CREATE INDEX race_by_run ON race (run_id);

-- One timing with its raw samples (little-endian float32, ns). The CHECKs refuse infinities; NaN arrives as NULL and is refused too.
CREATE TABLE measurement (
  measurement_id INTEGER PRIMARY KEY,
  race_id INTEGER NOT NULL REFERENCES race,
  trial_id INTEGER NOT NULL REFERENCES trial,
  samples BLOB NOT NULL CHECK (length(samples) = 4 * sample_count),
  sample_count INTEGER NOT NULL CHECK (sample_count > 0),
  q1_ns REAL NOT NULL CHECK (q1_ns > 0),
  median_ns REAL NOT NULL CHECK (median_ns >= q1_ns),
  q3_ns REAL NOT NULL CHECK (q3_ns >= median_ns AND q3_ns < 1e15),
  mad_ns REAL NOT NULL CHECK (mad_ns >= 0 AND mad_ns < 1e15),
  value_ns REAL NOT NULL CHECK (value_ns > 0 AND value_ns < 1e15),
  ratio REAL NOT NULL CHECK (ratio > 0 AND ratio < 1e300),
  ratio_lo REAL NOT NULL CHECK (ratio_lo >= 0 AND ratio_lo <= ratio),
  ratio_hi REAL CHECK (ratio_hi >= ratio AND ratio_hi < 1e300),  -- NULL: unbounded, as after a single round
  quality TEXT NOT NULL CHECK (quality IN ('clean', 'contended', 'throttled')),
  clock_mhz REAL,
  memory_clock_mhz REAL,
  temperature_c REAL,
  UNIQUE (race_id, trial_id)
) STRICT;
CREATE INDEX measurement_by_trial ON measurement (trial_id);
CREATE TRIGGER measurement_is_of_its_race BEFORE INSERT ON measurement
  WHEN (SELECT problem_id FROM race WHERE race_id = new.race_id) IS NOT (SELECT problem_id FROM trial WHERE trial_id = new.trial_id)
  BEGIN SELECT raise(ABORT, 'a race measures trials of one problem'); END;

-- Clean finals of own trials in own races whose baseline was clean too: all that a choice may rest on.
CREATE VIEW v_clean_final AS
  SELECT t.problem_id, rc.device_id, r.toolchain_id, c.protocol_id, t.schedule_id, t.trial_id, t.build_id, c.race_id, c.at,
         coalesce(c.floor, (SELECT n.p95_relative FROM noise_floor n WHERE n.run_id = c.run_id ORDER BY n.at DESC LIMIT 1), 0) AS floor,
         b.schedule_id AS baseline_schedule_id, m.ratio, m.ratio_lo, m.ratio_hi, m.value_ns
  FROM race c
  JOIN measurement m ON m.race_id = c.race_id AND m.quality = 'clean'
  JOIN trial t ON t.trial_id = m.trial_id AND t.outcome = 'ok'
  JOIN run r ON r.run_id = t.run_id AND r.origin = 'own'
  JOIN run rc ON rc.run_id = c.run_id AND rc.origin = 'own'
  JOIN trial b ON b.trial_id = c.baseline_trial_id
  JOIN measurement mb ON mb.race_id = c.race_id AND mb.trial_id = c.baseline_trial_id AND mb.quality = 'clean'
  WHERE c.stage IN ('final', 'revalidate');

-- Trials with a passed check of the candidate and no failed check of any kind.
CREATE VIEW v_verified AS
  SELECT trial_id FROM verification GROUP BY trial_id HAVING min(passed) = 1 AND max(what = 'candidate') = 1;

-- Decisions: append-only and traceable; a new one supersedes an old one.
CREATE TABLE choice (
  choice_id INTEGER PRIMARY KEY,
  run_id INTEGER REFERENCES run,
  problem_id INTEGER NOT NULL REFERENCES problem,
  device_id INTEGER NOT NULL REFERENCES device,
  toolchain_id INTEGER NOT NULL REFERENCES toolchain,
  protocol_id INTEGER NOT NULL REFERENCES protocol,
  decision TEXT NOT NULL CHECK (decision IN ('specialise', 'bucket', 'generic', 'keep_previous')),
  trial_id INTEGER REFERENCES trial,
  baseline_trial_id INTEGER REFERENCES trial,
  ratio REAL, ratio_lo REAL, ratio_hi REAL,
  baseline_ns REAL,
  value_ns REAL,
  calls REAL,
  horizon_s REAL,
  serves TEXT CHECK (serves IS NULL OR json_valid(serves)),
  why TEXT NOT NULL,
  at TEXT NOT NULL,
  supersedes INTEGER UNIQUE REFERENCES choice,
  CHECK ((decision = 'keep_previous') = (trial_id IS NULL)),
  CHECK (decision = 'bucket' OR serves IS NULL)
) STRICT;
CREATE INDEX choice_by_problem ON choice (problem_id, device_id);
CREATE UNIQUE INDEX choice_has_one_beginning ON choice (problem_id, device_id) WHERE supersedes IS NULL;
CREATE VIEW v_choice_in_force AS
  SELECT * FROM choice c WHERE NOT EXISTS (SELECT 1 FROM choice n WHERE n.supersedes = c.choice_id);
CREATE TRIGGER choice_needs_proof BEFORE INSERT ON choice
  WHEN new.trial_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM v_clean_final f
      WHERE f.trial_id = new.trial_id AND f.problem_id = new.problem_id AND f.device_id = new.device_id
        AND (SELECT min(v.passed) = 1 AND max(v.what = 'candidate') = 1 FROM verification v WHERE v.trial_id = f.trial_id))
  BEGIN SELECT raise(ABORT, 'a choice needs a passed check and a clean own final of this problem on this device'); END;
CREATE TRIGGER choice_succeeds_its_own BEFORE INSERT ON choice
  WHEN new.supersedes IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM choice c WHERE c.choice_id = new.supersedes AND c.problem_id = new.problem_id AND c.device_id = new.device_id)
  BEGIN SELECT raise(ABORT, 'a choice supersedes one of its own problem and device'); END;
CREATE TRIGGER choice_is_append_only BEFORE UPDATE ON choice BEGIN SELECT raise(ABORT, 'choices are append-only'); END;
CREATE TRIGGER choice_is_kept BEFORE DELETE ON choice BEGIN SELECT raise(ABORT, 'choices are append-only'); END;

-- What a person decided over the numbers' head; `lifted` ends it.
CREATE TABLE ruling (
  ruling_id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('pin', 'ban')),
  problem_id INTEGER NOT NULL REFERENCES problem,
  device_id INTEGER REFERENCES device,
  schedule_id INTEGER NOT NULL REFERENCES schedule,
  why TEXT NOT NULL CHECK (why <> ''),
  at TEXT NOT NULL,
  lifted TEXT
) STRICT;
CREATE INDEX ruling_in_force ON ruling (problem_id) WHERE lifted IS NULL;

CREATE TABLE package (
  package_id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  set_name TEXT NOT NULL,
  abi_version INTEGER NOT NULL,
  manifest TEXT NOT NULL CHECK (json_valid(manifest)),
  library_hash BLOB NOT NULL CHECK (length(library_hash) = 32)
) STRICT;
CREATE TABLE package_item (
  package_id INTEGER NOT NULL REFERENCES package,
  choice_id INTEGER NOT NULL REFERENCES choice,
  target TEXT NOT NULL,
  symbol TEXT NOT NULL,
  dispatch_rank INTEGER NOT NULL,
  PRIMARY KEY (package_id, choice_id, target)
) STRICT, WITHOUT ROWID;

-- How often. Raw counts by import; weights are always a query.
CREATE TABLE demand_source (
  source_id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),  -- of the imported text
  application TEXT NOT NULL,
  at TEXT NOT NULL,
  window_start TEXT,
  window_end TEXT,
  horizon_s REAL NOT NULL CHECK (horizon_s > 0 AND horizon_s < 1e12),
  overflow INTEGER NOT NULL CHECK (overflow >= 0),
  CHECK ((window_start IS NULL) = (window_end IS NULL))
) STRICT;
CREATE TABLE demand (
  source_id INTEGER NOT NULL REFERENCES demand_source ON DELETE CASCADE,
  written TEXT NOT NULL,
  tier TEXT NOT NULL CHECK (tier IN ('exact', 'bucket', 'generic')),  -- the variant that served the calls
  problem_id INTEGER REFERENCES problem,  -- once someone who knows the operator has read the text
  calls INTEGER NOT NULL CHECK (calls >= 0),
  PRIMARY KEY (source_id, written, tier)
) STRICT, WITHOUT ROWID;
CREATE INDEX demand_by_text ON demand (written);
CREATE INDEX demand_by_problem ON demand (problem_id);

-- Calls of each problem: in all, a second (an application's calls over the time that its imports cover), and by which tier.
CREATE VIEW v_demand AS
  WITH covered AS (SELECT application, sum(horizon_s) AS horizon_s FROM
                     (SELECT DISTINCT application, coalesce(window_start, digest), horizon_s FROM demand_source) GROUP BY application)
  SELECT d.problem_id, min(d.written) AS written, sum(d.calls) AS calls, sum(d.calls / c.horizon_s) AS calls_per_s,
         coalesce(1.0 * sum(CASE WHEN d.tier <> 'generic' THEN d.calls END) / nullif(sum(d.calls), 0), 0) AS tuned_share
  FROM demand d JOIN demand_source s USING (source_id) JOIN covered c USING (application)
  GROUP BY coalesce(d.problem_id, d.written);

-- One word an attempt, and what the auto-tuning community's results format calls it.
CREATE VIEW v_outcome AS
  SELECT t.trial_id, coalesce(t.reason, t.outcome) AS word,
         CASE WHEN t.outcome = 'ok' OR t.reason IN ('cut_slow', 'same_as_build') THEN 'correct'
              WHEN t.reason IN ('wrong_result', 'nondeterministic', 'emulator_fault', 'implausible', 'numerics') THEN 'correctness'
              WHEN t.reason IN ('compile_timeout', 'run_timeout') THEN 'timeout'
              WHEN t.reason IN ('compile_error', 'compiler_crash') THEN 'compile'
              WHEN t.reason IN ('run_error', 'worker_crash', 'device_lost') THEN 'runtime'
              ELSE 'constraints' END AS invalidity
  FROM trial t WHERE t.state = 'done';

-- What serves extents that nobody tuned: a winner over an interval around its problem (bucket), and builds right for every extent (generic).
-- Each was checked on the problems listed. A later check of the same build replaces the row.
CREATE TABLE coverage (
  build_id INTEGER NOT NULL REFERENCES build,
  problem_id INTEGER NOT NULL REFERENCES problem,
  device_id INTEGER NOT NULL REFERENCES device,
  tier TEXT NOT NULL CHECK (tier IN ('bucket', 'generic')),
  extents TEXT NOT NULL CHECK (json_valid(extents)),  -- bucket: symbol -> [least, most]
  checked TEXT NOT NULL CHECK (json_valid(checked)),  -- problems as text
  max_error REAL NOT NULL CHECK (max_error >= 0),
  at TEXT NOT NULL,
  PRIMARY KEY (build_id, problem_id, device_id, tier)
) STRICT, WITHOUT ROWID;
CREATE INDEX coverage_by_problem ON coverage (problem_id, device_id);

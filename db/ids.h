// Row identities, one type a table, so that a problem is never passed where a trial is meant. They mean nothing outside one file.
#pragma once

#include <cstdint>

namespace kiln::db {

enum class AlgorithmId : std::int64_t {};
enum class ProblemId : std::int64_t {};
enum class DeviceId : std::int64_t {};
enum class ToolchainId : std::int64_t {};
enum class ProtocolId : std::int64_t {};
enum class ScheduleId : std::int64_t {};
enum class BuildId : std::int64_t {};
enum class RunId : std::int64_t {};
enum class TrialId : std::int64_t {};
enum class RaceId : std::int64_t {};
enum class MeasurementId : std::int64_t {};
enum class ChoiceId : std::int64_t {};
enum class RulingId : std::int64_t {};
enum class PackageId : std::int64_t {};

}  // namespace kiln::db

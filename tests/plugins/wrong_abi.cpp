// A plugin that claims an interface from the future.
extern "C" {
int kiln_plugin_abi = 999;
}

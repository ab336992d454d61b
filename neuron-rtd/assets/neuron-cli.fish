# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_neuron_cli_global_optspecs
    string join \n a/address= v/version h/help
end

function __fish_neuron_cli_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_neuron_cli_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_neuron_cli_using_subcommand
    set -l cmd (__fish_neuron_cli_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -s v -s V -l version -d 'Print the version'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "list-model" -d 'List the loaded models'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "list-ncg" -d 'List the NeuronCore groups'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "create-ncg" -d 'Make a NeuronCore group and print its id'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "destroy-ncg" -d 'Destroy a NeuronCore group that holds no model'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "load" -d 'Load a NEFF and print the id of the model'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "start" -d 'Start a model'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "stop" -d 'Stop a model'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "unload" -d 'Unload a model'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "infer" -d 'Run one inference'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "stat" -d 'Print the counters of the daemon'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "reset" -d 'Unload every model and destroy every group, of all clients'
complete -c neuron-cli -n "__fish_neuron_cli_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand list-model" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand list-model" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand list-ncg" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand list-ncg" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand create-ncg" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand create-ncg" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand destroy-ncg" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand destroy-ncg" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand load" -l ncg-id -d '-1: the runtime makes a group and starts the model; 0: a group is made for it here; 1 and up: an existing group' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand load" -l nc-count -d 'NeuronCores of the group with --ncg-id 0; the longest free run without it' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand load" -l timeout -d 'Seconds that an inference may take' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand load" -l ninfer -d 'Inferences in flight' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand load" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand load" -l enable-direct-file-load -d 'Let the daemon read the file itself, where its configuration allows that'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand load" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand start" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand start" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand stop" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand stop" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand unload" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand unload" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand infer" -s i -l input -d 'An input: NAME=FILE, where FILE.npy is an array and any other file its bytes' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand infer" -s o -l output -d 'Where an output goes: NAME=FILE; sizes are printed for all others' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand infer" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand infer" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand stat" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand stat" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand reset" -s a -l address -d 'Address of the daemon: unix:PATH or HOST:PORT' -r
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand reset" -s h -l help -d 'Print help'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "list-model" -d 'List the loaded models'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "list-ncg" -d 'List the NeuronCore groups'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "create-ncg" -d 'Make a NeuronCore group and print its id'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "destroy-ncg" -d 'Destroy a NeuronCore group that holds no model'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "load" -d 'Load a NEFF and print the id of the model'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "start" -d 'Start a model'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "stop" -d 'Stop a model'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "unload" -d 'Unload a model'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "infer" -d 'Run one inference'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "stat" -d 'Print the counters of the daemon'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "reset" -d 'Unload every model and destroy every group, of all clients'
complete -c neuron-cli -n "__fish_neuron_cli_using_subcommand help; and not __fish_seen_subcommand_from list-model list-ncg create-ncg destroy-ncg load start stop unload infer stat reset help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'

# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_neuron_ls_global_optspecs
    string join \n w/wide a/show-all-procs t/topology j/json-output o/output= watch interval= source= color= v/version h/help
end

function __fish_neuron_ls_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_neuron_ls_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_neuron_ls_using_subcommand
    set -l cmd (__fish_neuron_ls_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -s o -l output -d 'What to print; json has the keys of -j and more' -r -f -a "table\t'A table for people'
json\t'An array of one object for each device'
csv\t'One row for each process on each device (RFC 4180)'"
complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -l interval -d 'Shortest time between two readings: a number with ms, s, m or h' -r
complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -s w -l wide -d 'Print up to 80 columns of each command instead of 40'
complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -s a -l show-all-procs -d 'Also list processes that use no Neuron runtime'
complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -s t -l topology -d 'Draw how the devices are connected, below the table'
complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -s j -l json-output -d 'Print the JSON of the original neuron-ls, key for key'
complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -l watch -d 'Keep running and print again whenever something that is shown has changed'
complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -s v -s V -l version -d 'Print the version'
complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-ls -n "__fish_neuron_ls_needs_command" -f -a "sim" -d 'Make, list, export, spoil and remove simulated instances'
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and not __fish_seen_subcommand_from list create export fault remove" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and not __fish_seen_subcommand_from list create export fault remove" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and not __fish_seen_subcommand_from list create export fault remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and not __fish_seen_subcommand_from list create export fault remove" -f -a "list" -d 'List the simulated instances of this machine'
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and not __fish_seen_subcommand_from list create export fault remove" -f -a "create" -d 'Make an instance without reading it'
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and not __fish_seen_subcommand_from list create export fault remove" -f -a "export" -d 'Write an instance out as plain files: a root for --source kernel:DIR'
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and not __fish_seen_subcommand_from list create export fault remove" -f -a "fault" -d 'Inject a fault into a device, or repair it'
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and not __fish_seen_subcommand_from list create export fault remove" -f -a "remove" -d 'Remove an instance that no process uses'
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from list" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from list" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from create" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from create" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from create" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from export" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from export" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from fault" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from fault" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from fault" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from remove" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from remove" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-ls -n "__fish_neuron_ls_using_subcommand sim; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'

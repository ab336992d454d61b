# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_neuron_monitor_global_optspecs
    string join \n verbose= c/config-file= period= kubelet-socket= once count= pretty source= color= v/version h/help
end

function __fish_neuron_monitor_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_neuron_monitor_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_neuron_monitor_using_subcommand
    set -l cmd (__fish_neuron_monitor_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -l verbose -d 'Say more on stderr: 1 what cannot be read, 2 steps, 3 records' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -s c -l config-file -d 'Read what to collect from a JSON file; it is read again when it changes' -r -F
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -l period -d 'Period of groups for which the configuration says nothing [default: 5s]' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -l kubelet-socket -d 'Where the kubelet is asked for pods, when k8s_info is on [default: /var/lib/kubelet/pod-resources/kubelet.sock]' -r -F
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -l count -d 'Print N records, the first after one period, and end' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -l once -d 'Print one record with every group and end'
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -l pretty -d 'Print each record over many lines, for people'
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -s v -s V -l version -d 'Print the version'
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -f -a "prometheus" -d 'Serve the metrics over HTTP for Prometheus'
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -f -a "cloudwatch" -d 'Send the metrics to CloudWatch, or write them as embedded metric format'
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -f -a "record" -d 'Record samples into a file for --source replay:FILE'
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -f -a "schema" -d 'Print the JSON Schema of the records'
complete -c neuron-monitor -n "__fish_neuron_monitor_needs_command" -f -a "dashboard" -d 'Print a Grafana dashboard for the exporter'
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -s p -l port -d 'Port to listen on; 0 takes one that is free' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l listen -d 'Address to listen on' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l cert-file -d 'Certificates for HTTPS (PEM); read again when the file changes' -r -F
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l key-file -d 'Private key for HTTPS (PEM)' -r -F
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l auth-file -d 'Ask for a name and password: a file with a line USER:PASSWORD each' -r -F
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l verbose -d 'Say more on stderr: 1 what cannot be read, 2 steps, 3 records' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -s c -l config-file -d 'Read what to collect from a JSON file; it is read again when it changes' -r -F
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l period -d 'Period of groups for which the configuration says nothing [default: 5s]' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l kubelet-socket -d 'Where the kubelet is asked for pods, when k8s_info is on [default: /var/lib/kubelet/pod-resources/kubelet.sock]' -r -F
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l stdin -d 'Read the records of another neuron-monitor from stdin'
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l enable-k8s-info -d 'Label cores and devices with their pod, as the kubelet tells it'
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -l each-vcpu -d 'Also export the usage of each vCPU'
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand prometheus" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l namespace -d 'Namespace of the metrics' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l region -d 'Send to CloudWatch in this region (PutMetricData) instead of writing lines' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l endpoint -d 'Send to this address instead of the region\'s own' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l flush -d 'Send at the latest when a metric has waited for so long [default: 60s]' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l output -d 'Append lines to a file instead of stdout' -r -F
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l count -d 'Take N records, the first after one period, and end' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l verbose -d 'Say more on stderr: 1 what cannot be read, 2 steps, 3 records' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -s c -l config-file -d 'Read what to collect from a JSON file; it is read again when it changes' -r -F
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l period -d 'Period of groups for which the configuration says nothing [default: 5s]' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l kubelet-socket -d 'Where the kubelet is asked for pods, when k8s_info is on [default: /var/lib/kubelet/pod-resources/kubelet.sock]' -r -F
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -l stdin -d 'Read the records of another neuron-monitor from stdin'
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand cloudwatch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand record" -l period -d 'Time between two samples' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand record" -l count -d 'Stop after N samples' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand record" -l max-size -d 'Begin a new file when this size is reached: a number with KiB, MiB or GiB' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand record" -l keep -d 'Full files that are kept beside the one that grows' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand record" -l verbose -d 'Say more on stderr: 1 what cannot be read' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand record" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand record" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand record" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand schema" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand schema" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand dashboard" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand dashboard" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-monitor -n "__fish_neuron_monitor_using_subcommand dashboard" -s h -l help -d 'Print help (see more with \'--help\')'

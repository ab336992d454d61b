# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_neuron_profile_global_optspecs
    string join \n h/help V/version
end

function __fish_neuron_profile_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_neuron_profile_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_neuron_profile_using_subcommand
    set -l cmd (__fish_neuron_profile_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -s h -l help -d 'Print help'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "capture" -d 'Run a NEFF and write a trace of it'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "inspect" -d 'Run a program and keep what the runtime does for it'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "neff" -d 'Look into a NEFF, take it apart, put it together'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "ntff" -d 'Look into NTFF traces and the files of inspect runs'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "view" -d 'Show profiles: store one and serve it, or write its tables or metrics; without files serve what is stored'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "list" -d 'List the stored profiles, latest first'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "delete" -d 'Delete stored profiles'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "tag" -d 'Name and tag a stored profile'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "export" -d 'Write a stored profile in the form of another program'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "query" -d 'Ask stored profiles in SQL'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "report" -d 'Answer questions that are asked of every profile'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "recommend" -d 'Say what to change so that a program runs faster, as Markdown; nothing leaves this machine'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "show-session" -d 'Show what a trace has: programs, cores, queues, records'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "tensorboard" -d 'Serve the runs of a log directory to the plug-in of TensorBoard, which starts this itself'
complete -c neuron-profile -n "__fish_neuron_profile_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -s n -l neff -d 'The NEFF to run' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -s s -l session-file -d 'Where the trace goes; executions beyond the first and ranks get `_exec_N` and `_rank_R` before the ending' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -s m -l multi-input -d 'Inputs of several workers: a text file with a line of such pairs for each' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -s i -l collectives-profile-id -d 'The rank that writes a trace, or all' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -s r -l collectives-workers-per-node -d 'Workers of this machine, each on cores of its own [default: as many as the collectives of the NEFF need, else 1]' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l collectives-worker-count -d 'Workers of all machines' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l collectives-worker-start-id -d 'Rank of the first worker of this machine' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l num-exec -d 'Executions of each worker' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l profile-nth-exec -d 'Trace each N-th execution, 0 for none; there are at least N executions' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -s t -l capture-type -d 'What is traced; the files of a systrace are in a folder that has the name of the session file without its ending' -r -f -a "profile\t'The device'
systrace\t'The runtime'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l systrace-event-filter -d 'Events of a systrace that are kept, by name, hardware or software, with ^ before it those that are not; may be given more than once' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l exec-mode -d 'How executions follow each other' -r -f -a "sync\t'Each is waited for'
async\t'All are queued, then waited for'
async-wait\t'Each is queued and waited for by itself'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l single-io-threshold -d 'Tensors up to so many bytes keep a buffer of their own' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l save-nth-output -d 'Save the outputs of each N-th execution only' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l io-from -d 'What inputs and outputs are taken from' -r -f -a "neff\t'The NEFF'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l libnrt -d 'The libnrt that --source kernel uses [default: /opt/aws/neuron/lib/libnrt.so.1]' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l tensorboard-dir -d 'Also write the traces as a run for TensorBoard, below plugins/neuron of this log directory' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l ignore-exec-errors -d 'Go on after an execution that ends with an error, such as NaN from inputs of zeros'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l systrace-get-event-types -d 'Names of the events of a systrace, and nothing else'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l disable-profile -d 'Only run, write no trace'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l enable-dge-notifs -d 'Ask the device to tell what each dynamic DMA moves'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l single-io -d 'Let all tensors share one buffer; here each keeps its own, results and times are the same'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l save-output -d 'Write each output to a raw file of its name'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l save-output-npy -d 'Write each output to a .npy file of its name'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l write-tensors-per-exec -d 'Save the outputs of each execution, as is done anyway'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -l check-output-determinism -d 'Compare the outputs of all executions with those of the first; 1 is returned if they differ'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand capture" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand inspect" -s o -l output-dir -d 'Folder in which that of the run is made, INSTANCE_pid_PID' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand inspect" -s n -l num-trace-events -d 'Events that are kept of each core; then the oldest are dropped [default: 1000000]' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand inspect" -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand inspect" -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand inspect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand inspect" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and not __fish_seen_subcommand_from info ls cat disasm unpack pack verify run help" -s h -l help -d 'Print help'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and not __fish_seen_subcommand_from info ls cat disasm unpack pack verify run help" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and not __fish_seen_subcommand_from info ls cat disasm unpack pack verify run help" -f -a "info" -d 'Show header, inputs and outputs, and programs'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and not __fish_seen_subcommand_from info ls cat disasm unpack pack verify run help" -f -a "ls" -d 'List the members'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and not __fish_seen_subcommand_from info ls cat disasm unpack pack verify run help" -f -a "cat" -d 'Write members to stdout'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and not __fish_seen_subcommand_from info ls cat disasm unpack pack verify run help" -f -a "disasm" -d 'List the instructions'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and not __fish_seen_subcommand_from info ls cat disasm unpack pack verify run help" -f -a "unpack" -d 'Write the members into a folder'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and not __fish_seen_subcommand_from info ls cat disasm unpack pack verify run help" -f -a "pack" -d 'Make a NEFF of a folder\'s files'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and not __fish_seen_subcommand_from info ls cat disasm unpack pack verify run help" -f -a "verify" -d 'Check everything; exit code 3 if a strict reader refuses the file'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and not __fish_seen_subcommand_from info ls cat disasm unpack pack verify run help" -f -a "run" -d 'Run it on the software NeuronCore'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and not __fish_seen_subcommand_from info ls cat disasm unpack pack verify run help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from info" -s o -l output -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from info" -l strict -d 'Refuse a file that breaks a rule, instead of showing what can be read'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from info" -s w -l show-weights -d 'Show constants too'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from info" -l no-digest -d 'Leave the digest alone; it reads the whole file'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from info" -s s -l show-spills -d 'Show scratch variables too'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from info" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from info" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from ls" -s o -l output -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from ls" -l strict -d 'Refuse a file that breaks a rule, instead of showing what can be read'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from ls" -s l -l long -d 'Offsets, owner and time too'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from ls" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from ls" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from cat" -s o -l output -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from cat" -l strict -d 'Refuse a file that breaks a rule, instead of showing what can be read'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from cat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from cat" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from disasm" -s o -l output -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from disasm" -l strict -d 'Refuse a file that breaks a rule, instead of showing what can be read'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from disasm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from disasm" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from unpack" -s o -l output -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from unpack" -l strict -d 'Refuse a file that breaks a rule, instead of showing what can be read'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from unpack" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from unpack" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -l like -d 'Take the header fields of this NEFF; further flags change them' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -s n -l name -d 'Name of the model, at most 255 bytes' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -l label -d 'Label of the producer, at most 127 bytes' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -l uuid -d 'Id of the model, 32 hex digits; made from the content if not given' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -s k -l neff-version -d 'Format version, MAJOR.MINOR; 1.0 without features, else 2.0' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -s r -l header-version -d 'Packager version: 1 stores a SHA-256, 2 an MD5' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -s t -l num-nc -d 'NeuronCores for full speed' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -l lnc-size -d 'Physical cores of one logical core; the count of sgNN folders if not given' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -s e -l enable-feature -d 'Set a feature, by the name that `neff info` shows; may be repeated' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -l digest -d 'Form of the MD5: as it is, or words byte-reversed as current compilers do' -r -f -a "plain\t''
swapped\t''"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -s o -l output -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -l bare -d 'Store the archive without compression'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -l force -d 'Replace the file if it exists'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from pack" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from verify" -s o -l output -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from verify" -l strict -d 'Refuse a file that breaks a rule, instead of showing what can be read'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from verify" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from run" -s i -l input -d 'Give an input its array; for types that NumPy has not, such as bfloat16, one of as many bytes' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from run" -l fill -d 'Make up the inputs that are not given' -r -f -a "zeros\t'0'
random\t'Floats from -1 to 1; integers, which are often indices, are 0'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from run" -l seed -d 'Start of the random numbers of --fill random' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from run" -s o -l output -d 'Write each output to a .npy file in this folder, which is made' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from run" -l node -d 'Node to run, by its kelf member, of a file with several; nodes of the CPU are not run' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from run" -l trace -d 'Write the trace that a device would have written to this file, also of a run that stops' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from run" -l format -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from run" -l timing-only -d 'Skip the arithmetic: time and counts only, inputs that are not given are 0'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from run" -l no-timing -d 'Skip the timing: outputs and numerical errors only'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from run" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from help" -f -a "info" -d 'Show header, inputs and outputs, and programs'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from help" -f -a "ls" -d 'List the members'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from help" -f -a "cat" -d 'Write members to stdout'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from help" -f -a "disasm" -d 'List the instructions'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from help" -f -a "unpack" -d 'Write the members into a folder'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from help" -f -a "pack" -d 'Make a NEFF of a folder\'s files'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Check everything; exit code 3 if a strict reader refuses the file'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run it on the software NeuronCore'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand neff; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and not __fish_seen_subcommand_from info dump verify help" -s h -l help -d 'Print help'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and not __fish_seen_subcommand_from info dump verify help" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and not __fish_seen_subcommand_from info dump verify help" -f -a "info" -d 'What was captured: versions, programs, records per core, times'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and not __fish_seen_subcommand_from info dump verify help" -f -a "dump" -d 'The message by field name, and every record'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and not __fish_seen_subcommand_from info dump verify help" -f -a "verify" -d 'Check every rule of the format; exit code 3 when one is broken'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and not __fish_seen_subcommand_from info dump verify help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from info" -s o -l output -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from info" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from info" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from dump" -s o -l output -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from dump" -l no-records -d 'Leave the records out'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from dump" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from dump" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from verify" -s o -l output -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from verify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from verify" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from help" -f -a "info" -d 'What was captured: versions, programs, records per core, times'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from help" -f -a "dump" -d 'The message by field name, and every record'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from help" -f -a "verify" -d 'Check every rule of the format; exit code 3 when one is broken'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand ntff; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -s n -l neff-path -d 'The NEFF that was running; given more than once, one for each trace' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -s s -l session-file -d 'The trace of it; - reads stdin; may be given more than once, the ranks of a NEFF for instance' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -s d -l session-dir -d 'A folder: what the runtime wrote of a run, or traces of the ranks of a NEFF' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l jobs -d 'Traces that are ingested at once; one for each processor if left out' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l memory-budget -d 'Memory of all ingests together: bytes, or with K, M or G' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l output-format -d 'What is written; parquet goes to the store, db there and to InfluxDB [default: parquet, with a flag of InfluxDB db]' -r -f -a "parquet\t'Tables in the store'
db\t'The same, and a copy in InfluxDB'
json\t'A file of all tables'
perfetto\t'A trace for ui.perfetto.dev'
summary-text\t'Metrics, name and value'
summary-json\t'Metrics on one line, by the profile\'s id'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l data-path -d 'Directory of the stored profiles; the user\'s data directory if left out ($XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile)' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l tag -d 'Tag of the stored profile; may be given more than once' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l output-file -d 'Where json or perfetto goes, - is stdout [default: ntff.json, ntff.pftrace]; of a folder, the folder of system_profile.json and device_profile_model_ID.json, or .pftrace [default: .]' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l display-name -d 'Name of the profile; that of the trace if left out' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l nki-source-root -d 'Where sources of NKI kernels are: those that instructions and call stacks name are kept with the profile' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l framework-source-root -d 'Where sources of the framework\'s program are, in the same way' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l execution -d 'Which execution of the trace, from 1' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l processing-status-file -d 'Where to write how it ended: {"status_code":0,"profiles":[{"profile":"n_...","status":"success"}]}' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -s v -l verbosity -d 'How much is told on stderr: 0 errors alone, 1 findings and notes too, 2 also what was done and how long it took' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -s F -d 'Another way to say --ignore-nc-buf-usage: -F ignore-nc-buf-usage=true' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l system-trace-filter-neuron-core -d 'Keep the events of a run on these cores only, counted within their process' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l system-trace-filter-event-type -d 'Keep these events of a run only, by name' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l system-trace-filter-instance-id -d 'Keep the runs of these instances only' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l system-trace-primary-group -d 'What events of a run are grouped by in processes' -r -f -a "instance_id\t'The instance'
worker_gid\t'The worker, counted over all instances'
lnc_idx\t'The core, counted within the process'
process_id\t'The process'
thread_id\t'The thread'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l system-trace-secondary-group -d 'What they are grouped by in rows of a process' -r -f -a "instance_id\t'The instance'
worker_gid\t'The worker, counted over all instances'
lnc_idx\t'The core, counted within the process'
process_id\t'The process'
thread_id\t'The thread'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -s p -l port -d 'Port of the viewer; 0 for any that is free' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l host -d 'Address to listen on, to be reached from other machines; then the printed link has a token' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l upload-limit -d 'Largest file that the viewer may upload' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l db-endpoint -d 'Its URL [default: $INFLUX_HOST, else http://localhost:8086]; the token is $INFLUX_TOKEN, else that of the influx client' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l db-org -d 'Its organisation [default: $INFLUX_ORG, else the only one]' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l db-bucket -d 'The bucket of the profile; its id if left out' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l ignore-device-profile -d 'Leave out the traces of devices in a folder'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l ignore-system-profile -d 'Leave out the events of the runtime in a folder'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l ingest-only -d 'Store the profile and end, serve nothing'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l force -d 'Ingest again what is stored already'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l json-pretty-print -d 'Break the lines of json'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l ignore-nc-buf-usage -d 'Leave out how full the memories of a core are, which takes memory with the length of a trace'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l enable-memory-tracker -d 'Track tensors in device memory over time, as is done anyway: tables ScratchpadTensor and ScratchpadUsage'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l terminology -d 'Say what each metric means, and nothing else'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l show-profile-schema -d 'Say which tables and columns profiles have, and nothing else'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l ignore-dma-trace -d 'Leave DMA packets out of json'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l ignore-instruction-trace -d 'Leave instructions out of json'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l ignore-event-trace -d 'Leave changes of semaphores and faults out of json'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l ignore-instruction-hierarchy -d 'Leave the sums of layers out of json'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -l show-perfetto-flows -d 'Show what depends on what as arrows'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand view" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand list" -l data-path -d 'Directory of the stored profiles; the user\'s data directory if left out ($XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile)' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand list" -l tag -d 'Only those with this tag; may be given more than once' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand list" -l format -d 'Form of the result' -r -f -a "text\t'For people'
json\t'One JSON document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand list" -l db-endpoint -d 'Its URL [default: $INFLUX_HOST, else http://localhost:8086]; the token is $INFLUX_TOKEN, else that of the influx client' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand list" -l db-org -d 'Its organisation [default: $INFLUX_ORG, else the only one]' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand list" -l db-bucket -d 'The bucket of the profile; its id if left out' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand list" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand delete" -l data-path -d 'Directory of the stored profiles; the user\'s data directory if left out ($XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile)' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand delete" -l db-endpoint -d 'Its URL [default: $INFLUX_HOST, else http://localhost:8086]; the token is $INFLUX_TOKEN, else that of the influx client' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand delete" -l db-org -d 'Its organisation [default: $INFLUX_ORG, else the only one]' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand delete" -l db-bucket -d 'The bucket of the profile; its id if left out' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand delete" -s h -l help -d 'Print help'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand delete" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand tag" -l remove -d 'Tag to take away; may be given more than once' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand tag" -l display-name -d 'New display name' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand tag" -l data-path -d 'Directory of the stored profiles; the user\'s data directory if left out ($XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile)' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand tag" -s h -l help -d 'Print help'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand tag" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -l format -d 'Form' -r -f -a "parquet\t'The tables as they are stored'
csv\t'A file for each table'
json\t'One object of all tables'
perfetto\t'A trace for ui.perfetto.dev'
chrome\t'A trace for chrome://tracing and speedscope'
folded\t'Stacks with their nanoseconds, for flame graphs'
tensorboard\t'A run in a log directory of TensorBoard, below plugins/neuron of PATH'
html\t'The Device Viewer with the profile inside: one page that needs no server'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -s o -l output-file -d 'Where it goes: a directory for parquet, csv and tensorboard, a file for others, - for stdout; named after the profile if left out' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -l table -d 'Only this table, for parquet, csv and json; may be given more than once' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -l events -d 'Events of a page at most, for html' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -l from -d 'Begin of the window whose events a page has, in ns, for html' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -l to -d 'End of it' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -l system-trace-primary-group -d 'What events of a run are grouped by in processes' -r -f -a "instance_id\t'The instance'
worker_gid\t'The worker, counted over all instances'
lnc_idx\t'The core, counted within the process'
process_id\t'The process'
thread_id\t'The thread'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -l system-trace-secondary-group -d 'What they are grouped by in rows of a process' -r -f -a "instance_id\t'The instance'
worker_gid\t'The worker, counted over all instances'
lnc_idx\t'The core, counted within the process'
process_id\t'The process'
thread_id\t'The thread'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -l data-path -d 'Directory of the stored profiles; the user\'s data directory if left out ($XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile)' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -l show-perfetto-flows -d 'Show what depends on what as arrows'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand export" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -s f -l file -d 'The statement from a file; - is stdin' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -l describe -d 'List the columns of a table with types, units and descriptions' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -l output-format -d 'Form of the result' -r -f -a "table\t'For people'
csv\t'RFC 4180, null is an empty field'
json\t'A list of objects'
parquet\t'A file of columns'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -s o -l output-file -d 'Where it goes; it appears whole or not at all' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -l max-rows -d 'Rows of the form table at most; 0 for all' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -l tag -d 'All profiles with this tag, the ranks of a job for instance; may be given more than once' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -l engine -d 'Who answers: local is this process, ballista://HOST:PORT a cluster whose executors read the same storage' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -l memory-limit -d 'Memory of sorts, groups and joins here: bytes, or with K, M or G; what is larger goes to temporary files' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -l threads -d 'Threads, on a cluster parts of a scan; one of each processor, or 16 parts, if left out' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -l data-path -d 'Directory of the stored profiles; the user\'s data directory if left out ($XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile)' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -l tables -d 'List the tables with their rows'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand query" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand report" -l output-format -d 'Form of the result' -r -f -a "table\t'For people'
csv\t'A table after the other, each under a line with # and its name'
json\t'One document'"
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand report" -s o -l output-file -d 'Where it goes; it appears whole or not at all' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand report" -l limit -d 'Rows of each table at most; 20 for people, 10000 in csv and json if left out' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand report" -l tag -d 'All profiles with this tag, the ranks of a job for instance; may be given more than once' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand report" -l engine -d 'Who answers: local is this process, ballista://HOST:PORT a cluster whose executors read the same storage' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand report" -l memory-limit -d 'Memory of sorts, groups and joins here: bytes, or with K, M or G; what is larger goes to temporary files' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand report" -l threads -d 'Threads, on a cluster parts of a scan; one of each processor, or 16 parts, if left out' -r
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand report" -l data-path -d 'Directory of the stored profiles; the user\'s data directory if left out ($XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile)' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand report" -l sql -d 'Print the SQL behind the tables and ask nothing'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand report" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand recommend" -s n -l neff-path -d 'The NEFF that was running, instead of a stored profile' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand recommend" -s s -l session-file -d 'The trace of it' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand recommend" -l nki-source-root -d 'Folder of the sources of kernels, whose lines are then quoted' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand recommend" -l data-path -d 'Directory of the stored profiles; the user\'s data directory if left out ($XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile)' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand recommend" -s h -l help -d 'Print help'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand recommend" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand show-session" -s s -l session-file -d 'The trace; - reads stdin' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand show-session" -s n -l neff-path -d 'The NEFF that was running, which must be the one of the trace' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand show-session" -s j -l json -d 'One JSON document'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand show-session" -l show-trace -d 'Print records of instructions, semaphores and events'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand show-session" -l show-dma -d 'Print records of DMA'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand show-session" -s e -l show-errors -d 'Print errors'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand show-session" -s i -l instructions -d 'Print the captured programs, a slot a line in hex; `neff disasm` reads them'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand show-session" -s h -l help -d 'Print help'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand show-session" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand tensorboard" -l logdir -d 'The log directory of TensorBoard' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand tensorboard" -l socket -d 'The Unix socket to listen on; its directory should be the user\'s own' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand tensorboard" -l cache -d 'Where profiles are kept that were made of the files of runs; they may be removed at any time [default: $XDG_CACHE_HOME/neuron-profile, else ~/.cache/neuron-profile]' -r -F
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand tensorboard" -l until-stdin-closes -d 'End when stdin is closed, as it is when the program at its other end has ended'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand tensorboard" -s h -l help -d 'Print help'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand tensorboard" -s V -l version -d 'Print version'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "capture" -d 'Run a NEFF and write a trace of it'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "inspect" -d 'Run a program and keep what the runtime does for it'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "neff" -d 'Look into a NEFF, take it apart, put it together'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "ntff" -d 'Look into NTFF traces and the files of inspect runs'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "view" -d 'Show profiles: store one and serve it, or write its tables or metrics; without files serve what is stored'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "list" -d 'List the stored profiles, latest first'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "delete" -d 'Delete stored profiles'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "tag" -d 'Name and tag a stored profile'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "export" -d 'Write a stored profile in the form of another program'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "query" -d 'Ask stored profiles in SQL'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "report" -d 'Answer questions that are asked of every profile'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "recommend" -d 'Say what to change so that a program runs faster, as Markdown; nothing leaves this machine'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "show-session" -d 'Show what a trace has: programs, cores, queues, records'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "tensorboard" -d 'Serve the runs of a log directory to the plug-in of TensorBoard, which starts this itself'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and not __fish_seen_subcommand_from capture inspect neff ntff view list delete tag export query report recommend show-session tensorboard help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and __fish_seen_subcommand_from neff" -f -a "info" -d 'Show header, inputs and outputs, and programs'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and __fish_seen_subcommand_from neff" -f -a "ls" -d 'List the members'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and __fish_seen_subcommand_from neff" -f -a "cat" -d 'Write members to stdout'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and __fish_seen_subcommand_from neff" -f -a "disasm" -d 'List the instructions'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and __fish_seen_subcommand_from neff" -f -a "unpack" -d 'Write the members into a folder'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and __fish_seen_subcommand_from neff" -f -a "pack" -d 'Make a NEFF of a folder\'s files'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and __fish_seen_subcommand_from neff" -f -a "verify" -d 'Check everything; exit code 3 if a strict reader refuses the file'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and __fish_seen_subcommand_from neff" -f -a "run" -d 'Run it on the software NeuronCore'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and __fish_seen_subcommand_from ntff" -f -a "info" -d 'What was captured: versions, programs, records per core, times'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and __fish_seen_subcommand_from ntff" -f -a "dump" -d 'The message by field name, and every record'
complete -c neuron-profile -n "__fish_neuron_profile_using_subcommand help; and __fish_seen_subcommand_from ntff" -f -a "verify" -d 'Check every rule of the format; exit code 3 when one is broken'

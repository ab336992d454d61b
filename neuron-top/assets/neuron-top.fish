complete -c neuron-top -s p -l period -l interval -d 'Time between two readings, at least 100ms: a number with ms, s, m or h [default: 1s]' -r
complete -c neuron-top -s n -l count -d 'Print N times and end, the first after one period' -r
complete -c neuron-top -s c -l config -d 'Read keys, colours and more from a file [default: ~/.config/neuron-top.json, if there is one]' -r -F
complete -c neuron-top -l theme -d 'Whether the terminal is light or dark [default: as COLORFGBG says, else dark]' -r -f -a "auto\t'As `COLORFGBG` says; dark where it says nothing'
dark\t'Light on dark'
light\t'Dark on light'"
complete -c neuron-top -l source -d 'What to read: kernel, kernel:ROOT, sim:INSTANCE[,name=NAME] or replay:FILE' -r
complete -c neuron-top -l color -d 'When to colour the output; NO_COLOR and CLICOLOR_FORCE are honoured' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'Always'
never\t'Never'"
complete -c neuron-top -l once -d 'Print the screen once as plain text, the whole tree with it, and end'
complete -c neuron-top -s b -l batch -d 'Print plain text and not a screen; without --count until something ends it'
complete -c neuron-top -s j -l json -l json-output -d 'Print JSON, one reading a line; without --once or --count until something ends it'
complete -c neuron-top -l no-mouse -d 'Leave the mouse to the terminal'
complete -c neuron-top -l ascii -d 'Draw with ASCII only [default: as the locale says]'
complete -c neuron-top -s v -s V -l version -d 'Print the version'
complete -c neuron-top -s h -l help -d 'Print help (see more with \'--help\')'

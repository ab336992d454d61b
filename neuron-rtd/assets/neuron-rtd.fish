complete -c neuron-rtd -s t -d 'Serve exactly these devices, by PCI address, and ignore infa-map.json' -r
complete -c neuron-rtd -s g -d 'Where to listen: unix:PATH or HOST:PORT [default: unix:/run/neuron.sock]' -r
complete -c neuron-rtd -s c -d 'Configuration file [default: /opt/aws/neuron/config/neuron-rtd.config]' -r -F
complete -c neuron-rtd -s i -d 'Named instance: address and devices are those of NAME.json' -r
complete -c neuron-rtd -s l -d 'Log level: 3 error, 4 warning, 5 info, 6 debug, 7 trace' -r
complete -c neuron-rtd -l source -d 'What to run on: sim:INSTANCE[,name=NAME], or kernel' -r
complete -c neuron-rtd -l libnrt -d 'The libnrt that --source kernel uses [default: /opt/aws/neuron/lib/libnrt.so.1]' -r -F
complete -c neuron-rtd -s x -l log-console -d 'Log to the console as well as to syslog'
complete -c neuron-rtd -s v -s V -l version -d 'Print the version'
complete -c neuron-rtd -s h -l help -d 'Print help'

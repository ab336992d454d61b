#!/bin/sh
# Runs in a fresh Debian root without services: installs, looks, upgrades.
# Prints a line for each thing that holds and ends with 1 if one does not.
set -u
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
failed=0
holds() {
    what=$1
    shift
    if out=$("$@" 2>&1); then
        echo "ok: $what"
    else
        echo "FAILED: $what"
        echo "$out" | sed 's/^/    /' | tail -n 20
        failed=1
    fi
}
fails() { ! "$@"; }
says() { "$1" --source "$2" 2>&1 | grep -q -- "$3"; }

config=/opt/aws/neuron/config/neuron-rtd.config
install='apt-get install -y'

holds 'the previous version is installed' $install /packages/previous.deb
holds 'its configuration is its own' grep -q '"drain_sec": 29' $config
sed -i 's/"drain_sec": 29/"drain_sec": 31/' $config
echo 'NEURON_SOURCE=sim:trn1.2xlarge' >>/etc/default/neuron-monitor
holds 'an upgrade goes through' $install -o Dpkg::Options::=--force-confold /packages/neuron-tools.deb
holds 'an edited configuration is kept' grep -q '"drain_sec": 31' $config
holds 'an edited environment is kept' grep -q '^NEURON_SOURCE=sim:trn1.2xlarge' /etc/default/neuron-monitor
holds 'the scripts may run again' sh -c '
    set -e
    /var/lib/dpkg/info/neuron-tools.postinst configure 0.1.0
    /var/lib/dpkg/info/neuron-tools.postinst configure 0.1.0
    /var/lib/dpkg/info/neuron-tools.prerm upgrade 0.1.0'
holds 'neuron-rtd is enabled at boot' test -L /etc/systemd/system/multi-user.target.wants/neuron-rtd.service
holds 'the exporter is not' fails test -e /etc/systemd/system/multi-user.target.wants/neuron-monitor-prometheus.service
holds 'user and group of the exporter exist' sh -c 'getent passwd neuron-monitor && getent group neuron | grep -q neuron-monitor'

holds 'neuron-ls on a simulated instance' says neuron-ls sim:trn1.2xlarge 'simulated instance trn1.2xlarge'
holds 'neuron-monitor on it' sh -c 'neuron-monitor --source sim:trn1.2xlarge --once --period 100ms | grep -q "\"neuron_device_type\":\"trainium\""'
holds 'neuron-top on it' sh -c 'neuron-top --source sim:trn1.2xlarge --once --period 100ms | grep -q "NeuronCore v2"'
holds 'neuron-profile runs a sample' sh -c 'neuron-profile neff run /opt/aws/neuron/share/models/mlp.neff --fill random | grep -q "simulated time"'
holds 'every sample is sound' sh -c 'for f in /opt/aws/neuron/share/models/*.neff; do neuron-profile neff verify "$f" || exit 1; done'
holds 'the drop-in names work' sh -c 'neuron-monitor-prometheus.py --help && neuron-monitor-cloudwatch.py --help && neuron-cli --help'
holds 'the example configurations are read' sh -c '
    neuron-top --config /opt/aws/neuron/share/examples/neuron-top.json --source sim:trn1.2xlarge --once --period 100ms &&
    neuron-monitor -c /opt/aws/neuron/config/neuron-monitor.conf --source sim:trn1.2xlarge --once --period 100ms'

for unit in neuron-rtd.service neuron-rtd@nrtd0.service neuron-monitor-prometheus.service; do
    holds "systemd-analyze verify $unit" sh -c "out=\$(systemd-analyze verify $unit 2>&1); echo \"\$out\"; test -z \"\$out\""
    holds "exposure of $unit is 2.5 or less" systemd-analyze security --offline=true --no-pager --threshold=25 $unit
    systemd-analyze security --offline=true --no-pager $unit | sed -n 's/.*Overall exposure level for/    exposure of/p'
done
pages=0
for page in /usr/share/man/man1/neuron-*.gz; do
    holds "man page $page" sh -c "out=\$(MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z $page 2>&1 >/dev/null); echo \"\$out\"; test -z \"\$out\"" >/tmp/page
    grep -q '^ok' /tmp/page || { cat /tmp/page; failed=1; }
    pages=$((pages + 1))
done
rm -f /tmp/page
echo "ok: $pages man pages were rendered"
holds 'each program has its page' sh -c 'for f in /usr/bin/neuron-*; do man -w "${f##*/}" || exit 1; done'

holds 'our libnrt is installed' $install /packages/neuron-tools-libnrt-sim.deb
holds 'the loader does not see it' sh -c 'ldconfig; ! ldconfig -p | grep -q libnrt'

# Packages with the names of the vendor's.
for name in aws-neuronx-tools aws-neuronx-runtime-lib; do
    mkdir -p /tmp/$name/DEBIAN
    printf 'Package: %s\nVersion: 2.0\nArchitecture: all\nMaintainer: nobody <nobody@localhost>\nDescription: stands for the vendor'"'"'s\n' $name >/tmp/$name/DEBIAN/control
    dpkg-deb --build /tmp/$name /tmp/$name.deb >/dev/null
done
holds "the vendor's tools take the place of ours" sh -c 'apt-get install -s /tmp/aws-neuronx-tools.deb | grep -q "^Remv neuron-tools "'
holds "the vendor's library goes beside ours" sh -c '! apt-get install -s /tmp/aws-neuronx-runtime-lib.deb | grep -q ^Remv'
rm -rf /tmp/aws-neuronx-*
exit $failed

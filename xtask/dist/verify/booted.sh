#!/bin/bash
# Runs as a service of a Debian that systemd has started, with the packages
# installed: the units do what they say. Prints as installed.sh does.
set -u
failed=0
holds() {
    local what=$1 out
    shift
    if out=$("$@" 2>&1); then
        echo "ok: $what"
    else
        echo "FAILED: $what"
        tail -n 20 <<<"$out" | sed 's/^/    /'
        journalctl -q --no-pager -n 15 | sed 's/^/    /'
        failed=1
    fi
}
is() { test "$(systemctl is-active "$1")" = "$2"; }
# A page of the exporter, without a client: path, and what it must say.
page() {
    local n
    for n in $(seq 50); do
        if exec 3<>/dev/tcp/127.0.0.1/8000; then
            printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&3
            if grep -q -- "$2" <&3; then
                exec 3>&-
                return 0
            fi
            exec 3>&-
        fi 2>/dev/null
        sleep 0.2
    done
    return 1
}
pid() { systemctl show -p MainPID --value "$1"; }
has_no_capability() { grep -q '^CapEff:[[:space:]]*0*$' "/proc/$(pid "$1")/status"; }
simulated() {
    mkdir -p "/etc/systemd/system/$1.service.d"
    cp /opt/aws/neuron/share/systemd/simulated.conf "/etc/systemd/system/$1.service.d/"
}

holds 'without a device neuron-rtd is inactive, not failed' is neuron-rtd inactive
holds 'and its condition says why' sh -c 'systemctl show -p ConditionResult neuron-rtd | grep -q no'
simulated neuron-rtd
simulated neuron-rtd@
systemctl daemon-reload
holds 'with the drop-in it starts and says that it is ready' systemctl start neuron-rtd
holds 'it runs' is neuron-rtd active
holds 'without any capability' has_no_capability neuron-rtd
holds 'its socket answers' neuron-cli list-ncg
holds 'it loads a sample' sh -c 'test "$(neuron-cli load /opt/aws/neuron/share/models/null.neff)" = 10001'
head -c 64 /dev/zero >/tmp/x && chmod 644 /tmp/x
holds 'and runs it' neuron-cli infer 10001 -i x=/tmp/x
holds 'neuron-ls sees the daemon' sh -c 'neuron-ls --source sim:inf1.6xlarge | grep -q neuron-rtd'
holds 'another user sees it too' runuser -u nobody -- sh -c 'neuron-ls --source sim:inf1.6xlarge | grep -q neuron-rtd'
holds 'another user may infer' runuser -u nobody -- neuron-cli infer 10001 -i x=/tmp/x
holds 'it survives a restart' systemctl restart neuron-rtd
holds 'the watchdog is fed' sh -c 'sleep 32; systemctl show -p NRestarts --value neuron-rtd | grep -qx 0; test "$(systemctl is-active neuron-rtd)" = active'
holds 'it stops cleanly' sh -c 'systemctl stop neuron-rtd; systemctl show -p Result neuron-rtd | grep -q success'
holds 'and takes its socket away' test ! -e /run/neuron.sock

cp /opt/aws/neuron/share/examples/nrtd0.json /opt/aws/neuron/bin/
holds 'one of several daemons starts by its name' systemctl start neuron-rtd@nrtd0
holds 'and answers at its own socket' neuron-cli -a unix:/run/neuron.sock0 list-ncg
holds 'and stops' systemctl stop neuron-rtd@nrtd0
rm -f /opt/aws/neuron/bin/nrtd0.json /run/neuron.sock0.lock

# Only root may make an instance where all users see it.
neuron-ls --source sim:trn1.2xlarge >/dev/null
holds 'the exporter starts and says that it is ready' systemctl start neuron-monitor-prometheus
holds 'as a user of its own' sh -c 'test "$(stat -c %U /proc/'"$(pid neuron-monitor-prometheus)"')" = neuron-monitor'
holds 'it serves metrics' page /metrics '^system_vcpu_count'
holds 'and says that it is well' page /health '"status":"ok"'
holds 'a signal reads the configuration again' systemctl reload neuron-monitor-prometheus
holds 'it stops cleanly' sh -c 'systemctl stop neuron-monitor-prometheus; systemctl show -p Result neuron-monitor-prometheus | grep -q success'
holds 'no unit has failed' sh -c '! systemctl --no-legend list-units --failed | grep neuron'
rm -rf /etc/systemd/system/neuron-rtd.service.d /etc/systemd/system/neuron-rtd@.service.d
systemctl daemon-reload
for unit in neuron-rtd.service neuron-monitor-prometheus.service; do
    systemd-analyze security --no-pager $unit | sed -n 's/.*Overall exposure level for/    exposure of/p'
done
echo "ended: $failed"

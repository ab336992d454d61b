//! The same against an InfluxDB 2.x, where the environment names one.

use crate::{Place, round_trip, system_round_trip};

#[test]
fn an_influxdb_2_does_all_of_it() {
    let read = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let names = ["INFLUXDB2_URL", "INFLUXDB2_ORG", "INFLUXDB2_TOKEN"];
    let [Some(url), Some(org), Some(token)] = names.map(read) else {
        let why = "needs INFLUXDB2_URL, INFLUXDB2_ORG and INFLUXDB2_TOKEN";
        return neuron_tests::skipped("an_influxdb_2_does_all_of_it", why);
    };
    let place = Place { url, org, token };
    round_trip(&place);
    system_round_trip(&place);
}

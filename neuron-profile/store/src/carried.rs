//! A profile on its way through a store of another kind, such as a database:
//! what the rows of its tables do not say. With it and the rows
//! [`Restore`](crate::Restore) makes the profile again.

use parquet::file::metadata::RowGroupMetaData;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::kinds::Kinds;
use crate::lanes::{Index, Lane};
use crate::manifest::{Labels, Manifest};
use crate::read::{Profile, RecordBatchReader as _};
use crate::schema::{Column, Kind, Table, table};
use crate::series::{Measure, Source};

/// Version of [`Carried`]. Readers refuse newer ones.
pub const VERSION: u32 = 1;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// See [`VERSION`].
    pub version: u32,
    /// Its manifest.
    pub manifest: Manifest,
    /// Name and tags.
    pub labels: Labels,
    /// Lanes, without blocks and zoom levels: they follow from the rows.
    pub index: Index,
    /// What events of a kind have in common.
    pub kinds: Kinds,
    /// Operations per second of a matrix unit at its peak, 0 if no series needs
    /// it.
    pub peak: f64,
    /// Tables, each with the rows of its parts in order.
    pub tables: Vec<CarriedTable>,
}

/// A table on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarriedTable {
    /// Its name and columns.
    pub table: Table,
    /// Rows of each row group, in the order of the file.
    pub parts: Vec<u64>,
}

impl Profile {
    /// What the rows of the tables do not say.
    ///
    /// # Errors
    ///
    /// A table that cannot be read.
    pub fn carried(&self) -> Result<Carried, Error> {
        let mut tables = Vec::new();
        for name in self.manifest().tables.keys() {
            let parts = self.parts(name)?;
            tables.push(CarriedTable { table: self.columns_of(name)?, parts });
        }
        let bare = |lane: &Lane| Lane { blocks: Vec::new(), levels: Vec::new(), ..lane.clone() };
        let index = Index {
            lanes: self.lanes().iter().map(bare).collect(),
            names: self.names().to_vec(),
            version: self.index_version(),
        };
        let peak = self.series().iter().find_map(|series| match series.source {
            Source::Lanes { measure: Measure::Flops { peak, .. }, .. } => Some(peak),
            _ => None,
        });
        Ok(Carried {
            version: VERSION,
            manifest: self.manifest().clone(),
            labels: self.labels().clone(),
            index,
            kinds: self.kinds().clone(),
            // the series has it per nanosecond
            peak: peak.unwrap_or(0.0) * 1e9,
            tables,
        })
    }

    /// Rows of each row group of a table.
    fn parts(&self, name: &str) -> Result<Vec<u64>, Error> {
        let builder = self.reader(name)?;
        let rows = |group: &RowGroupMetaData| u64::try_from(group.num_rows()).unwrap_or(0);
        Ok(builder.metadata().row_groups().iter().map(rows).collect())
    }

    /// The columns of a table as its file has them: those of Summary are the
    /// metrics of the profile.
    fn columns_of(&self, name: &str) -> Result<Table, Error> {
        use arrow_schema::DataType;
        let known = table(name);
        let reader = self.batches(name)?;
        let schema = reader.schema();
        let columns = schema.fields().iter().map(|field| {
            let text = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
            let kind = match field.data_type() {
                DataType::Int64 => Kind::Long,
                DataType::Int32 => Kind::Int,
                DataType::Float32 => Kind::Single,
                DataType::Float64 => Kind::Double,
                DataType::Boolean => Kind::Flag,
                _ => Kind::Text,
            };
            Column {
                name: field.name().clone(),
                kind,
                required: !field.is_nullable(),
                unit: text("unit"),
                description: text("description"),
            }
        });
        Ok(Table {
            name: name.to_owned(),
            description: known.map(|table| table.description.clone()).unwrap_or_default(),
            ours: known.is_some_and(|table| table.ours),
            columns: columns.collect(),
        })
    }
}

// env.<an Analytics Engine dataset>: takes everything and keeps nothing, as wrangler dev does.

class AnalyticsEngineDataset {
  writeDataPoint() {}
}

export default () => new AnalyticsEngineDataset();

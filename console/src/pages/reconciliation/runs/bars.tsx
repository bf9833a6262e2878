import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';

export interface Bar {
  name: string;
  findings: number;
}

/** Shows a bar chart. The table has the same figures. */
export default function Bars({ bars, title }: { bars: Bar[]; title: string }) {
  return (
    <div role="img" aria-label={`${title}, as in the table`}>
      <BarChart
        h={40 + 28 * bars.length}
        data={bars}
        dataKey="name"
        orientation="vertical"
        series={[{ name: 'findings', color: 'cyan.7' }]}
        yAxisProps={{ width: 130 }}
        xAxisProps={{ allowDecimals: false }}
        maxBarWidth={16}
        gridAxis="x"
        withTooltip={false}
        barChartProps={{ accessibilityLayer: false }}
        barProps={{ isAnimationActive: false }}
      />
    </div>
  );
}

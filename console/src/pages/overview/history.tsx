import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { Anchor, ColorSwatch, Group, Paper, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { OperationDay } from '../../api/generated/schema';
import { Card } from '../../components/page/section';
import { Empty } from '../../components/page/states';
import { formatCount, formatUsd } from '../../components/values/format';
import { listOf, windowOf } from './window';

type Measure = 'paid_usd' | 'items' | 'calls';

const MEASURES: { value: Measure; label: string }[] = [
  { value: 'paid_usd', label: 'USD paid' },
  { value: 'items', label: 'Payouts' },
  { value: 'calls', label: 'Calls' },
];

/** Colors that stay distinct for people with color blindness. */
const COLORS = ['blue.6', 'orange.5', 'teal.6', 'grape.5', 'yellow.6', 'red.6', 'cyan.6'];

/** Name for the operations without their own color. */
const OTHERS = 'others';

interface Props {
  days: OperationDay[];
  /** Days of the chart, oldest first. */
  dates: string[];
}

/** Shows payouts by day and operation: bars, and a table with the exact figures. */
export default function History({ days, dates }: Props) {
  const [measure, setMeasure] = useState<Measure>('paid_usd');
  const [form, setForm] = useState('chart');
  return (
    <Card
      title="By day (UTC) and operation"
      actions={
        <Group gap="xs">
          <SegmentedControl
            size="xs"
            aria-label="Count"
            data={MEASURES}
            value={measure}
            onChange={setMeasure}
          />
          <SegmentedControl
            size="xs"
            aria-label="Shown as"
            data={[
              { value: 'chart', label: 'Chart' },
              { value: 'table', label: 'Table' },
            ]}
            value={form}
            onChange={setForm}
          />
        </Group>
      }
    >
      {days.length === 0 ? (
        <Empty>No requests in this period.</Empty>
      ) : form === 'chart' ? (
        <Chart days={days} dates={dates} measure={measure} />
      ) : (
        <Figures days={days} />
      )}
    </Card>
  );
}

interface ChartProps {
  days: OperationDay[];
  dates: string[];
  measure: Measure;
}

function Chart({ days, dates, measure }: ChartProps) {
  const operations = largestOf(days, measure);
  const nameOf = (operation: string) => (operations.includes(operation) ? operation : OTHERS);
  const data = dates.map((date) => {
    const bar: Record<string, string | number> = { day: date };
    // A number is precise enough for the height of a bar. All figures in text are the API's.
    for (const row of days.filter(({ day }) => day === date)) {
      const name = nameOf(row.operation);
      bar[name] = Number(bar[name] ?? 0) + Number(row[measure]);
    }
    return bar;
  });
  const hasOthers = days.some((row) => Number(row[measure]) > 0 && nameOf(row.operation) === OTHERS);
  const series = [
    ...operations.map((name, index) => ({ name, color: COLORS[index] ?? 'gray.6' })),
    ...(hasOthers ? [{ name: OTHERS, color: 'gray.6' }] : []),
  ];
  const rowsOf = (date: string) => days.filter((row) => row.day === date && Number(row[measure]) > 0);
  return (
    <>
      <BarChart
        h={260}
        data={data}
        dataKey="day"
        type="stacked"
        tickLine="none"
        series={series}
        xAxisProps={{ tickFormatter: (day: string) => day.slice(5) }}
        valueFormatter={(value) => (measure === 'paid_usd' ? `$${formatCount(value)}` : formatCount(value))}
        tooltipProps={{
          content: ({ label }) => <Tip day={String(label)} rows={rowsOf(String(label))} measure={measure} />,
        }}
        barChartProps={{ accessibilityLayer: false }}
        role="img"
        aria-label="Bars by day and operation; the table has the same figures"
      />
      <Legend series={series} />
    </>
  );
}

/** Returns the operations with their own color: the largest ones. */
function largestOf(days: OperationDay[], measure: Measure): string[] {
  const sums = new Map<string, number>();
  for (const row of days) sums.set(row.operation, (sums.get(row.operation) ?? 0) + Number(row[measure]));
  const found = [...sums].filter(([, sum]) => sum > 0).sort(([, one], [, other]) => other - one);
  return found.slice(0, COLORS.length).map(([operation]) => operation);
}

function Legend({ series }: { series: { name: string; color: string }[] }) {
  return (
    <Group gap="xs" component="ul" m={0} p={0}>
      {series.map(({ name, color }) => (
        <Group key={name} gap={6} wrap="nowrap" component="li">
          <ColorSwatch
            color={`var(--mantine-color-${color.replace('.', '-')})`}
            size={10}
            withShadow={false}
          />
          <Text size="xs">{name}</Text>
        </Group>
      ))}
    </Group>
  );
}

function Tip({ day, rows, measure }: { day: string; rows: OperationDay[]; measure: Measure }) {
  return (
    <Paper withBorder shadow="md" p="xs">
      <Stack gap={2}>
        <Text size="sm" fw={600}>
          {day} UTC
        </Text>
        {rows.map((row) => (
          <Group key={row.operation} justify="space-between" gap="lg" wrap="nowrap">
            <Text size="xs">{row.operation}</Text>
            <Text size="xs">
              {measure === 'paid_usd' ? formatUsd(row.paid_usd) : formatCount(row[measure])}
            </Text>
          </Group>
        ))}
      </Stack>
    </Paper>
  );
}

function Figures({ days }: { days: OperationDay[] }) {
  return (
    <div
      role="region"
      aria-label="Figures by day and operation"
      tabIndex={0}
      style={{ overflow: 'auto', maxHeight: 320 }}
    >
      <Table fz="sm" stickyHeader aria-label="Figures by day and operation">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Day (UTC)</Table.Th>
            <Table.Th>Operation</Table.Th>
            {['Calls', 'Payouts', 'Requested', 'Paid', 'Pending', 'Returned', 'Fees'].map((title) => (
              <Table.Th key={title} ta="right">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {days.map((row) => (
            <Table.Tr key={`${row.day} ${row.operation}`}>
              <Table.Td style={{ whiteSpace: 'nowrap' }}>{row.day}</Table.Td>
              <Table.Td style={{ whiteSpace: 'nowrap' }}>{row.operation}</Table.Td>
              <Table.Td ta="right">
                <Counted what="calls" row={row} count={row.calls} />
              </Table.Td>
              <Table.Td ta="right">
                <Counted what="payouts" row={row} count={row.items} />
              </Table.Td>
              <Table.Td ta="right">{formatUsd(row.asked_usd)}</Table.Td>
              <Table.Td ta="right">{formatUsd(row.paid_usd)}</Table.Td>
              <Table.Td ta="right">{formatUsd(row.pending_usd)}</Table.Td>
              <Table.Td ta="right">{formatUsd(row.returned_usd)}</Table.Td>
              <Table.Td ta="right">{formatUsd(row.fees_usd)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** Links to the counted payouts. */
function Counted({ what, row, count }: { what: 'calls' | 'payouts'; row: OperationDay; count: number }) {
  const { day, operation } = row;
  if (count === 0) return formatCount(count);
  return (
    <Anchor
      component={Link}
      href={listOf(what, windowOf([day]), { operation })}
      inherit
      aria-label={`${formatCount(count)} ${what} of ${operation} on ${day}`}
    >
      {formatCount(count)}
    </Anchor>
  );
}

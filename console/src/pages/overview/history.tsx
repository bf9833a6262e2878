import { BarChart } from '@mantine/charts';
import '@mantine/charts/styles.css';
import { Group, Paper, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import type { OperationDay } from '../../api/generated/schema';
import { formatCount, formatUsd } from '../../components/format';
import { Empty } from '../../components/states';
import { Card } from './card';

type Measure = 'succeeded_usd' | 'items' | 'calls';

const MEASURES: { value: Measure; label: string }[] = [
  { value: 'succeeded_usd', label: 'USD paid' },
  { value: 'items', label: 'Payouts' },
  { value: 'calls', label: 'Calls' },
];

/** Far enough apart to be told from each other, also by who sees few colours. */
const COLORS = ['blue.6', 'orange.5', 'teal.6', 'grape.5', 'yellow.6', 'red.6', 'cyan.6', 'gray.6'];

interface Props {
  days: OperationDay[];
  /** How many days are told of, the last one being that of `until`. */
  span: number;
  until: string;
}

/** Payouts by day and operation: bars, and the same in exact figures. */
export default function History({ days, span, until }: Props) {
  const [measure, setMeasure] = useState<Measure>('succeeded_usd');
  const [form, setForm] = useState('chart');
  return (
    <Card
      title="By day (UTC) and operation"
      actions={
        <Group gap="xs">
          <SegmentedControl
            size="xs"
            aria-label="What is counted"
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
        <Empty>Nothing was asked for in these days.</Empty>
      ) : form === 'chart' ? (
        <Chart days={days} dates={datesOf(span, until)} measure={measure} />
      ) : (
        <Figures days={days} />
      )}
    </Card>
  );
}

const DAY_MS = 86_400_000;

/** Days without a payout are days too. */
function datesOf(span: number, until: string): string[] {
  const last = new Date(until).getTime();
  return Array.from({ length: span }, (_, back) => new Date(last - back * DAY_MS).toISOString().slice(0, 10)).reverse();
}

function Chart({ days, dates, measure }: { days: OperationDay[]; dates: string[]; measure: Measure }) {
  const operations = [...new Set(days.map(({ operation }) => operation))].sort();
  const of = (date: string) => days.filter(({ day }) => day === date);
  // For the bars' heights a number is exact enough; all figures that are read are the API's own text.
  const data = dates.map((date) => ({
    day: date,
    ...Object.fromEntries(of(date).map((row) => [row.operation, Number(row[measure])])),
  }));
  return (
    <BarChart
      h={280}
      data={data}
      dataKey="day"
      type="stacked"
      withLegend
      tickLine="none"
      series={operations.map((name, index) => ({ name, color: COLORS[index % COLORS.length] ?? 'gray.6' }))}
      xAxisProps={{ tickFormatter: (day: string) => day.slice(5) }}
      valueFormatter={(value) => (measure === 'succeeded_usd' ? `$${formatCount(value)}` : formatCount(value))}
      tooltipProps={{ content: ({ label }) => <Tip day={String(label)} rows={of(String(label))} measure={measure} /> }}
      barChartProps={{ accessibilityLayer: false }}
      role="img"
      aria-label="Bars by day and operation; the table has the same figures"
    />
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
              {measure === 'succeeded_usd' ? formatUsd(row.succeeded_usd) : formatCount(row[measure])}
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
            {['Calls', 'Payouts', 'Asked', 'Paid'].map((title) => (
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
              <Table.Td ta="right">{formatCount(row.calls)}</Table.Td>
              <Table.Td ta="right">{formatCount(row.items)}</Table.Td>
              <Table.Td ta="right">{formatUsd(row.asked_usd)}</Table.Td>
              <Table.Td ta="right">{formatUsd(row.succeeded_usd)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

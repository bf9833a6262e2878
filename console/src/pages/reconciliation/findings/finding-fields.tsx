import { Group, Table, Text } from '@mantine/core';
import { EqualNot } from 'lucide-react';
import type { ReactNode } from 'react';
import type { FindingEvidence, FindingField } from '../../../api/generated/schema';
import { inWords } from '../../../components/values/format';
import { Maybe } from '../../../components/values/values';

/** Shows both sides of a difference, and marks the fields that differ. */
export function FieldsTable({ fields }: { fields: FindingField[] }) {
  return (
    <SideBySide
      label="Fields"
      rows={fields.map(({ field, ours, theirs }) => ({
        name: field,
        cells: (
          <>
            <Value value={ours} isOther={false} />
            <Value value={theirs} isOther={ours !== theirs} />
          </>
        ),
      }))}
    />
  );
}

/** @param rows two cells for each field. */
function SideBySide({ label, rows }: { label: string; rows: { name: string; cells: ReactNode }[] }) {
  return (
    <div role="region" aria-label={label} tabIndex={0} style={{ overflowX: 'auto' }}>
      <Table w="auto" miw={360} fz="sm" withTableBorder>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Field</Table.Th>
            <Table.Th>Our records</Table.Th>
            <Table.Th>Upstream</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ name, cells }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={400}>
                {name}
              </Table.Th>
              {cells}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function Value({ value, isOther }: { value: string | null; isOther: boolean }) {
  return (
    <Table.Td bg={isOther ? 'var(--mantine-color-orange-light)' : 'transparent'}>
      <Group gap={6} wrap="nowrap">
        {isOther && <EqualNot size={14} aria-label="differs:" style={{ flexShrink: 0 }} />}
        <Text span inherit fw={isOther ? 600 : 400} maw={420} className="wrap-anywhere">
          <Maybe text={value} />
        </Text>
      </Group>
    </Table.Td>
  );
}

/** Shows the compared records side by side. */
export function EvidenceTable({ evidence: { ours, theirs, match } }: { evidence: FindingEvidence }) {
  const [left, right]: Record<string, unknown>[] = [{ ...ours }, { ...theirs }];
  const names = [...new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])];
  return (
    <>
      <Text size="sm" mb="xs">
        {match ? `Paired by ${inWords(match.rule)}, ${match.certainty}.` : 'The two do not match.'}
      </Text>
      <SideBySide
        label="Rows"
        rows={names.map((name) => ({
          name,
          cells: [left, right].map((row, side) => (
            <Table.Td key={side} maw={320} className="wrap-anywhere">
              <Maybe text={textOf(row?.[name])} />
            </Table.Td>
          )),
        }))}
      />
    </>
  );
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

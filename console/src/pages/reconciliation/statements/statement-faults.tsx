import { ScrollArea, Table, Text } from '@mantine/core';
import type { StatementWithFaults } from '../../../api/generated/schema';
import { formatCount } from '../../../components/values/format';

/** Lists the lines of a statement that are not used, with the reasons. */
export function StatementFaults({
  statement: { faults, fault_count: count },
}: {
  statement: Pick<StatementWithFaults, 'faults' | 'fault_count'>;
}) {
  return (
    <>
      <Text size="sm" mb="xs">
        {count === 1 ? 'One line' : `${formatCount(count)} lines`} cannot be used
        {count > faults.length && `; the first ${formatCount(faults.length)} are listed`}. Correct them in the
        file and import it again.
      </Text>
      <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0 }}>
        <Table fz="sm" aria-label="Faults">
          <Table.Thead>
            <Table.Tr>
              <Table.Th ta="right" w={70}>
                Line
              </Table.Th>
              <Table.Th>Reason</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {faults.map(({ line, reason }) => (
              <Table.Tr key={`${line} ${reason}`}>
                <Table.Td ta="right">{line}</Table.Td>
                <Table.Td>{reason}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </>
  );
}

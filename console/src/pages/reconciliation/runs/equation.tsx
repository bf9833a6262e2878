import { Alert, Anchor, Group, Table, Text, Title } from '@mantine/core';
import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { TotalsRecord } from '../../../api/generated/schema';
import { formatCount, formatUsd, inWords } from '../../../components/values/format';
import { decimalsOf, isZero, signedUsd, withDecimals } from '../amounts';
import { linkToFindings } from '../findings/findings-query';

/** Proves a run: our total and all differences add up to the upstream's total, with no residual. */
export function Equation({ totals, runId }: { totals: TotalsRecord; runId: string }) {
  const { ours, theirs, findings, within_tolerance_usd: tolerance, residual_usd: residual } = totals;
  const categories = Object.entries(findings.by_category);
  const amounts = [ours.usd, theirs.usd, tolerance, ...categories.map(([, { usd }]) => usd)];
  const decimals = Math.max(2, decimalsOf(amounts));
  const plain = (usd: string) => formatUsd(withDecimals(usd, decimals));
  const signed = (usd: string) => signedUsd(withDecimals(usd, decimals));
  return (
    <section aria-labelledby="equation">
      <Title order={2} size="h4" id="equation" mb="xs">
        The difference, explained
      </Title>
      <Table w="auto" miw={{ base: '100%', xs: 420 }} verticalSpacing={4} aria-labelledby="equation">
        <Table.Tbody>
          <Term name="Our total" note={`${formatCount(ours.count)} payments`} amount={plain(ours.usd)} />
          {categories.map(([category, { count, usd }]) => (
            <Term
              key={category}
              name={
                <Anchor
                  component={Link}
                  href={linkToFindings({ run_id: runId, category, state: 'any' })}
                  size="sm"
                >
                  {inWords(category)}
                </Anchor>
              }
              note={formatCount(count)}
              amount={signed(usd)}
            />
          ))}
          <Term name="Within the tolerances" amount={signed(tolerance)} />
          <Term
            name={<ResidualName residual={residual} />}
            amount={signed(residual)}
            bad={!isZero(residual)}
          />
          <Term
            name="Upstream's total"
            note={`${formatCount(theirs.count)} transactions`}
            amount={plain(theirs.usd)}
            sum
          />
        </Table.Tbody>
      </Table>
      {!isZero(residual) && (
        <Alert color="red" variant="light" mt="xs" title="The sums do not add up">
          There is no explanation for {formatUsd(residual)}. Do not rely on this run. Keep it and report a bug
          in payout-proxy.
        </Alert>
      )}
    </section>
  );
}

interface TermProps {
  name: ReactNode;
  /** Number of payments or findings. */
  note?: string;
  amount: string;
  /** Whether the row is the sum of the rows above. */
  sum?: boolean;
  bad?: boolean;
}

function Term({ name, note, amount, sum = false, bad = false }: TermProps) {
  return (
    <Table.Tr
      fw={sum ? 700 : 400}
      style={sum ? { borderTop: '2px solid var(--mantine-color-default-border)' } : undefined}
    >
      <Table.Th scope="row" fw="inherit">
        <Group gap="xs">
          {sum && <span aria-label="equals">=</span>}
          {name}
          {note !== undefined && (
            <Text span size="xs" c="dimmed" fw={400}>
              {note}
            </Text>
          )}
        </Group>
      </Table.Th>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }} c={bad ? 'red' : 'inherit'} fw={bad ? 700 : 400}>
        {amount}
      </Table.Td>
    </Table.Tr>
  );
}

function ResidualName({ residual }: { residual: string }) {
  return (
    <Group gap={4}>
      Residual
      {isZero(residual) && (
        <Group gap={2} c="teal">
          <Check size={14} aria-hidden />
          <Text span size="xs" c="dimmed">
            zero, as expected
          </Text>
        </Group>
      )}
    </Group>
  );
}

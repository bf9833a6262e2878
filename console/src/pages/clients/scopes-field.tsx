import { Checkbox, Stack } from '@mantine/core';
import { scopeValues as SCOPES } from '../../api/generated/schema';
import type { Draft, Faults, Scope } from './draft';

/** A scope that is new here has no explanation yet, and can be chosen all the same. */
const MEANS: Partial<Record<string, string>> = {
  pay: 'Sends value from a wallet: airtime, mobile money, credit, transfers.',
  write: 'Makes or unmakes something: payment links, collections, sub-accounts.',
  read: 'Asks the upstream: balances, transactions, prices.',
  account: 'Reaches the whole upstream account: redeems, deletes, lists transactions and wallets of all clients.',
  audit: 'Reads the history of all clients, with people masked; proves and exports it.',
  'audit:pii': 'Sees people in the history as they are. Each look is recorded.',
  reconcile: 'Runs the reconciliation and decides about its findings.',
  approve: 'Approves or rejects what others asked for.',
  admin: 'Makes clients and keys, sets limits, stops everything.',
};

interface Props {
  scopes: Scope[];
  faults: Faults;
  change: (change: Partial<Draft>) => void;
}

export function ScopesField({ scopes, faults, change }: Props) {
  return (
    <Checkbox.Group
      label="Scopes"
      description="What its keys may do."
      required
      value={scopes}
      error={faults.scopes}
      onChange={(chosen) => change({ scopes: SCOPES.filter((scope) => chosen.includes(scope)) })}
    >
      <Stack gap={6} mt={6}>
        {SCOPES.map((scope) => (
          <Checkbox key={scope} size="sm" value={scope} label={scope} description={MEANS[scope]} />
        ))}
      </Stack>
    </Checkbox.Group>
  );
}

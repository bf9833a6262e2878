import { Checkbox, Stack } from '@mantine/core';
import { scopeValues as SCOPES } from '../../../api/generated/schema';
import type { Draft, Faults, Scope } from './draft';

/** A new scope has no explanation here yet, and can still be chosen. */
const MEANS: Partial<Record<string, string>> = {
  pay: 'Sends value from a wallet: airtime, mobile money, credit, transfers.',
  write: 'Creates or deletes objects: payment links, collections, sub-accounts.',
  read: 'Reads from the upstream: balances, transactions, prices.',
  account: 'Accesses the whole upstream account: the transactions of all clients, wallets, and sub-accounts.',
  audit: 'Reads, verifies, and exports the history of all clients, with people masked.',
  'audit:pii': 'Sees people unmasked in the history. Each access is recorded.',
  reconcile: 'Runs reconciliations and decides findings.',
  approve: "Approves or rejects other clients' requests.",
  admin: 'Creates clients and keys, sets limits, and stops operations.',
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
      description="Permissions of the client's keys."
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

import { NativeSelect } from '@mantine/core';
import { useAccounts } from '../../api/accounts';
import { Choice } from '../../components/lists/filter-inputs';

/** Selects an upstream account. Hidden if there is only one. */
export function AccountInput({ account, choose }: { account: string; choose: (account: string) => void }) {
  const names = useAccounts().flatMap(({ configured, name }) => (configured ? [name] : []));
  if (names.length < 2) return null;
  return (
    <NativeSelect
      label="Upstream account"
      value={account}
      onChange={({ currentTarget: { value } }) => choose(value)}
      data={names}
    />
  );
}

interface FilterProps {
  value: string | undefined;
  choose: (account: string) => void;
}

/** Filters by upstream account. Hidden if there is only one and the filter is not set. */
export function AccountFilter({ value, choose }: FilterProps) {
  const names = useAccounts().map(({ name }) => name);
  if (names.length < 2 && value === undefined) return null;
  const others = [...new Set([...names, ...(value === undefined ? [] : [value])])];
  return (
    <Choice
      label="Account"
      value={value}
      choose={choose}
      all="All accounts"
      others={others.map((name) => ({ value: name, label: name }))}
    />
  );
}

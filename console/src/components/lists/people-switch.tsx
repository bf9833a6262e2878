import { Switch } from '@mantine/core';
import { useSession } from '../../api/session';

interface Props {
  /** Whether people are unmasked. */
  reveal: boolean;
  setReveal: (reveal: boolean) => void;
}

/** Unmasks people, if the key has access to them. Leaving the page masks them again. */
export function PeopleSwitch({ reveal, setReveal }: Props) {
  const { may } = useSession();
  if (!may('audit:pii')) return <span />;
  return (
    <Switch
      size="sm"
      label={reveal ? 'Show people: every page that you view is recorded' : 'Show people (recorded)'}
      checked={reveal}
      onChange={({ currentTarget }) => setReveal(currentTarget.checked)}
    />
  );
}

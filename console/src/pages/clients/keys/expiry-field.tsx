import { Checkbox, Stack, TextInput } from '@mantine/core';

/** The expiry of a new key or sign-in in a form. */
export interface Expiry {
  /** A local date and time. Empty for the default, which is one year. */
  until: string;
  never: boolean;
}

export const USUAL_EXPIRY: Expiry = { until: '', never: false };

/** Returns the expiry as a field of the request. It is left out for the default. */
export function expiryIn({ until, never }: Expiry): { expires_at?: string | null } {
  if (never) return { expires_at: null };
  return until === '' ? {} : { expires_at: new Date(until).toISOString() };
}

interface Props {
  expiry: Expiry;
  error: string | undefined;
  change: (expiry: Expiry) => void;
}

export function ExpiryField({ expiry, error, change }: Props) {
  return (
    <Stack gap="xs">
      <TextInput
        label="Expires"
        type="datetime-local"
        value={expiry.until}
        disabled={expiry.never}
        error={error}
        description="In your time zone. If empty, in a year."
        onChange={({ currentTarget: { value } }) => change({ ...expiry, until: value })}
      />
      <Checkbox
        label="Never expires"
        description="It is valid until somebody revokes it."
        checked={expiry.never}
        onChange={({ currentTarget: { checked } }) => change({ ...expiry, never: checked })}
      />
    </Stack>
  );
}

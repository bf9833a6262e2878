import { Checkbox, Stack, TextInput } from '@mantine/core';

/** Expiry of a new key or sign-in in a form. */
export interface Expiry {
  /** Local date and time. Empty means the default of one year. */
  until: string;
  never: boolean;
}

export const DEFAULT_EXPIRY: Expiry = { until: '', never: false };

/** Returns the expiry as a field of the request. The default sends none. */
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
        description="In your time zone. If empty, one year from now."
        onChange={({ currentTarget: { value } }) => change({ ...expiry, until: value })}
      />
      <Checkbox
        label="Never expires"
        description="It is valid until it is revoked."
        checked={expiry.never}
        onChange={({ currentTarget: { checked } }) => change({ ...expiry, never: checked })}
      />
    </Stack>
  );
}

import { Button, Text } from '@mantine/core';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { messageOf } from '../../api/problem';
import { save } from '../../api/save';

/** Saves all acts that match the filters, and not only this page, as CSV. */
export function ExportButton({ filters }: { filters: Record<string, string> }) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const keep = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      await save(`/v1/activity.csv?${new URLSearchParams(filters).toString()}`, 'payout-proxy-activity.csv');
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {failure !== undefined && (
        <Text size="sm" c="red" role="alert">
          {messageOf(failure)}
        </Text>
      )}
      <Button
        variant="default"
        size="xs"
        leftSection={<Download size={14} aria-hidden />}
        loading={busy}
        onClick={() => void keep()}
      >
        Export
      </Button>
    </>
  );
}

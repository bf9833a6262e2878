import { Alert, Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Copyable } from '../../components/copyable';
import { useGate } from '../../components/gate';

interface Props {
  client: string;
  key: string;
}

/**
 * Shows a new key once. The dialog closes only after somebody confirms that the key is stored, and the page keeps
 * nothing of it.
 */
export function NewKeyDialog({ of, close }: { of: Props; close: () => void }) {
  const [stored, setStored] = useState(false);
  const gate = useGate(stored ? undefined : 'Confirm first that you have stored the key.');
  return (
    <Modal
      opened
      onClose={close}
      title={`The new key of ${of.client}`}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Stack>
        <Alert color="orange" variant="light">
          This key is shown only once and is not stored. If you lose it, issue another one.
        </Alert>
        <Copyable text={of.key} label="the key" />
        <Text size="sm">Give it to the app as a secret. The app sends it in the header X-API-Key.</Text>
        <Checkbox
          label="I have stored the key"
          checked={stored}
          onChange={({ currentTarget: { checked } }) => setStored(checked)}
        />
        <Group justify="flex-end">
          {gate.hint}
          <Button onClick={close} {...gate.button}>
            Close
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

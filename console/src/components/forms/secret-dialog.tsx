import { Alert, Button, Checkbox, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Copyable } from '../values/copyable';
import { useGate } from './gate';

interface Props {
  title: string;
  /** Name of the secret, such as `the key`. */
  name: string;
  secret: string;
  /** Instructions for using it. */
  children: string;
  close: () => void;
}

/** Shows a secret once, without keeping it. The dialog closes after the user confirms that it is stored. */
export function SecretDialog({ title, name, secret, children, close }: Props) {
  const [stored, setStored] = useState(false);
  const gate = useGate(stored ? undefined : `Confirm first that you have stored ${name}.`);
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <Stack>
        <Alert color="orange" variant="light">
          This is shown only once and is not stored. If you lose it, revoke the key and issue another one.
        </Alert>
        <Copyable text={secret} label={name} />
        <Text size="sm">{children}</Text>
        <Checkbox
          label={`I have stored ${name}`}
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

import { NativeSelect, Text, Textarea } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { http } from '../../../api/client';
import { type BeneficiaryDto, beneficiaryDtoListValues as LISTS } from '../../../api/generated/schema';
import { faultsOf } from '../../../api/problem';
import { ReasonDialog } from '../../../components/forms/reason-dialog';
import { notifyPendingChange } from '../pending-change';
import { reloadClients } from '../reload-clients';

type ListName = BeneficiaryDto['list'];

const LIST_EFFECTS: Record<ListName, string> = {
  allowed: 'The client may pay them.',
  blocked: 'The client never pays them, even if they are also allowed.',
};

/** Adds recipients to a list of a client's register. */
export function AddBeneficiaries({ client, close }: { client: string; close: () => void }) {
  const queries = useQueryClient();
  const [list, setList] = useState<ListName>('allowed');
  const [text, setText] = useState('');
  const [faults, setFaults] = useState<string[]>([]);
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  const run = async (reason: string) => {
    setFaults([]);
    const body = { list, add: lines, reason };
    const { data } = await http.POST('/v1/clients/{name}/beneficiaries', {
      params: { path: { name: client } },
      body,
    });
    reloadClients(queries);
    if (data && !notifyPendingChange(data)) {
      notifications.show({ message: 'Saved. The change applies from the next request.', color: 'teal' });
    }
  };
  return (
    <ReasonDialog
      title="Add recipients"
      action="Add"
      missing={lines.length === 0 ? 'Enter a recipient first.' : undefined}
      run={(reason) =>
        run(reason).catch((error: unknown) => {
          setFaults(faultWords(error, lines));
          throw error;
        })
      }
      close={close}
    >
      <NativeSelect
        label="List"
        description={LIST_EFFECTS[list]}
        data={[...LISTS]}
        value={list}
        onChange={({ currentTarget: { value } }) => setList(value as ListName)}
      />
      <Textarea
        label="Recipients"
        required
        autosize
        minRows={3}
        maxRows={12}
        value={text}
        autoComplete="off"
        spellCheck={false}
        error={faults.length > 0 && <Faults of={faults} />}
        description={
          'One per line: an email address, a phone number such as +254712345678, a handle such as ' +
          '@ada, or receiver: and the ID of a sub-account.'
        }
        onChange={({ currentTarget: { value } }) => setText(value)}
      />
      <Text size="xs" c="dimmed">
        Only a hash and a mask of each are stored.
      </Text>
    </ReasonDialog>
  );
}

function Faults({ of }: { of: string[] }) {
  return of.map((fault) => (
    <Text key={fault} span inherit display="block">
      {fault}
    </Text>
  ));
}

/** Returns the errors, each with its line. */
function faultWords(error: unknown, lines: string[]): string[] {
  return Object.entries(faultsOf(error)).map(([place, detail]) => {
    const [, position] = /^add\/(\d+)$/.exec(place) ?? [];
    return position === undefined ? `${place} ${detail}` : `${lines[Number(position)]} ${detail}`;
  });
}

import { Select, Stack, Text } from '@mantine/core';
import type { MagicRecipientDto } from '../../../api/generated/schema';
import { InlineCode } from '../inline-code';
import type { Fields } from './draft';

/** Fields that name a recipient, with their keys in a magic recipient. The first one in the body applies. */
const NAMING = [
  ['phoneNumber', 'phone_number'],
  ['phone_number', 'phone_number'],
  ['email', 'email'],
] as const;

/** Recipient of the sample. */
const NONE = 'none';

interface Props {
  fields: Fields;
  like: Fields;
  recipients: MagicRecipientDto[];
  choose: (field: string, value: unknown) => void;
}

/** Selects a recipient with a fixed result. */
export function MagicRecipient({ fields, like, recipients, choose }: Props) {
  const naming = NAMING.find(([field]) => field in like);
  if (!naming) return null;
  const [field, called] = naming;
  const chosen = recipients.find((recipient) => recipient[called] === fields[field]);
  const kind = called === 'email' ? 'An email address' : 'A phone number';
  return (
    <Select
      label="Magic recipient"
      description={
        chosen ? (
          <InlineCode text={`Effect: ${chosen.does}.`} />
        ) : (
          `${kind} with a fixed result. Choose one to fill it in.`
        )
      }
      searchable
      allowDeselect={false}
      nothingFoundMessage="No such recipient"
      data={[NONE, ...recipients.map(({ name }) => name)]}
      value={chosen?.name ?? NONE}
      onChange={(name) => choose(field, recipients.find((one) => one.name === name)?.[called] ?? like[field])}
      renderOption={({ option }) => (
        <Option name={option.value} effect={recipients.find(({ name }) => name === option.value)?.does} />
      )}
    />
  );
}

function Option({ name, effect = 'paid normally' }: { name: string; effect: string | undefined }) {
  return (
    <Stack gap={0}>
      <Text size="sm" fw={600}>
        {name}
      </Text>
      <Text size="xs" c="dimmed">
        <InlineCode text={effect} />
      </Text>
    </Stack>
  );
}

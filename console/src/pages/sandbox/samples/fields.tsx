import {
  ActionIcon,
  Button,
  Fieldset,
  Group,
  Input,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { Plus, Trash2 } from 'lucide-react';
import type { MagicRecipientDto } from '../../../api/generated/schema';
import { type Fields, isItems, itemLike, labelOf, namesOf } from './draft';
import { MagicRecipient } from './magic-recipient';

/** Errors of the proxy, by JSON pointer. */
export type Faults = Readonly<Record<string, string>>;

interface Props {
  fields: Fields;
  /** The same part of the sample, which defines the fields and their types. */
  like: Fields;
  recipients: MagicRecipientDto[];
  faults: Faults;
  /** Position of the fields in the body, as a JSON pointer. */
  pointer?: string;
  /** @param changed JSON pointer of the changed value. */
  change: (fields: Fields, changed: string) => void;
}

/** Shows the fields of a body and of its items. */
export function BodyFields(props: Props) {
  const { fields, like, change, pointer = '' } = props;
  const names = namesOf(fields, like);
  const lists = names.filter((name) => isItems(like[name] ?? fields[name]));
  return (
    <Stack gap="sm">
      {lists.map((name) => (
        <Items key={name} {...props} name={name} />
      ))}
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="xs">
        {names
          .filter((name) => !lists.includes(name))
          .map((name) => (
            <Field key={name} {...props} name={name} />
          ))}
      </SimpleGrid>
      <MagicRecipient
        {...props}
        choose={(name, value) => change({ ...fields, [name]: value }, `${pointer}/${name}`)}
      />
    </Stack>
  );
}

function Field({ fields, like, faults, pointer = '', change, name }: Props & { name: string }) {
  const at = `${pointer}/${name}`;
  const value = fields[name] ?? '';
  if (typeof value === 'object') return <OnlyAsJson name={name} />;
  return (
    <TextInput
      label={labelOf(name)}
      value={typeof value === 'string' ? value : JSON.stringify(value)}
      error={faults[at]}
      autoComplete="off"
      inputMode={typeof like[name] === 'number' ? 'decimal' : undefined}
      onChange={({ currentTarget }) => change({ ...fields, [name]: currentTarget.value }, at)}
    />
  );
}

function OnlyAsJson({ name }: { name: string }) {
  return (
    <Text size="sm" c="dimmed">
      {labelOf(name)} can only be changed as JSON.
    </Text>
  );
}

function Items({ fields, like, recipients, faults, pointer = '', change, name }: Props & { name: string }) {
  const at = `${pointer}/${name}`;
  const items = fields[name] ?? [];
  if (!isItems(items)) return <OnlyAsJson name={name} />;
  const put = (next: Fields[], changed: string) => change({ ...fields, [name]: next }, changed);
  return (
    <Stack gap="sm">
      {items.map((item, index) => (
        <Fieldset key={index} legend={`${labelOf(name)}: item ${index + 1}`} p="sm">
          <BodyFields
            fields={item}
            like={itemLike(like[name])}
            recipients={recipients}
            faults={faults}
            pointer={`${at}/${index}`}
            change={(next, changed) => put(items.with(index, next), changed)}
          />
          <RemoveItem
            number={index + 1}
            disabled={items.length === 1}
            remove={() => put(items.toSpliced(index, 1), at)}
          />
        </Fieldset>
      ))}
      {faults[at] !== undefined && <Input.Error>{faults[at]}</Input.Error>}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<Plus size={14} />}
          onClick={() => put([...items, itemLike(like[name])], at)}
        >
          Add an item
        </Button>
      </Group>
    </Stack>
  );
}

function RemoveItem({ number, disabled, remove }: { number: number; disabled: boolean; remove: () => void }) {
  if (disabled) return null;
  return (
    <Group justify="flex-end" mt="xs">
      <ActionIcon variant="subtle" color="gray" onClick={remove} aria-label={`Remove item ${number}`}>
        <Trash2 size={16} />
      </ActionIcon>
    </Group>
  );
}

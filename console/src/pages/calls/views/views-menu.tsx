import { Button, Menu, ActionIcon, Checkbox, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Bookmark, Trash2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useGate } from '../../../components/forms/gate';
import { TextField } from '../filters/fields';
import { FILTER_NAMES, FILTERS, OF_RECIPIENTS } from '../filters/filters';
import { daysOf } from '../filters/period';
import type { List } from '../list';
import { open, USUAL_VIEWS, useSavedViews, viewOf } from './views';

/** Opens saved views. */
export function ViewsMenu({ list }: { list: List }) {
  const saved = useSavedViews(list.what);
  const [isSaving, saving] = useDisclosure();
  const [isManaging, managing] = useDisclosure();
  return (
    <>
      <Menu position="bottom-end" width={240} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button variant="default" size="xs" leftSection={<Bookmark size={14} aria-hidden />}>
            Views
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {[...USUAL_VIEWS, ...saved.views].map((view, place) => (
            <Menu.Item key={`${place}/${view.name}`} onClick={() => open(list, view)}>
              {view.name}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={saving.open}>Save this view…</Menu.Item>
          <Menu.Item onClick={managing.open} disabled={saved.views.length === 0}>
            Rename or delete…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isSaving && <SaveView list={list} saved={saved} close={saving.close} />}
      {isManaging && <ManageViews saved={saved} close={managing.close} />}
    </>
  );
}

interface Props {
  saved: ReturnType<typeof useSavedViews>;
  close: () => void;
}

/** Saves the current view under a name. */
function SaveView({ list, saved, close }: Props & { list: List }) {
  const [name, setName] = useState('');
  const [withRecipient, setWithRecipient] = useState(false);
  const hasRecipient = OF_RECIPIENTS.some((filter) => list.filters[filter] !== undefined);
  const isTaken = saved.views.some((view) => view.name === name.trim());
  const gate = useGate(name.trim() === '' ? 'Write a name first.' : undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saved.save(viewOf(list, name.trim(), withRecipient));
    close();
  };
  return (
    <Modal opened onClose={close} title="Save this view" closeButtonProps={{ 'aria-label': 'Close' }}>
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Name"
            required
            maxLength={60}
            value={name}
            autoComplete="off"
            data-autofocus
            description={isTaken ? 'This replaces the view with the same name.' : undefined}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Text size="sm">{wordsOf(list, withRecipient)}</Text>
          {hasRecipient && (
            <Checkbox
              label="Include the recipient"
              description="The contact is then stored in this browser, visible to everyone who uses it."
              checked={withRecipient}
              onChange={({ currentTarget }) => setWithRecipient(currentTarget.checked)}
            />
          )}
          <Text size="sm" c="dimmed">
            Views are stored in this browser with their filters and columns. Everyone who signs in here can
            use them. Views contain no records.
          </Text>
          <Group justify="flex-end">
            {gate.hint}
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" {...gate.button}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function wordsOf({ filters, chosen }: List, withRecipient: boolean): string {
  const days = daysOf(filters);
  const filterWords = FILTER_NAMES.flatMap((name) => {
    const value = filters[name];
    if (value === undefined || (!withRecipient && OF_RECIPIENTS.includes(name))) return [];
    if (name === 'from' && days !== undefined)
      return [days === 1 ? 'of the day' : `of the last ${days} days`];
    return [FILTERS[name].words(value)];
  });
  return `${filterWords.length === 0 ? 'No filters' : filterWords.join(', ')}; ${chosen.length} columns.`;
}

function ManageViews({ saved: { views, rename, remove }, close }: Props) {
  return (
    <Modal opened onClose={close} title="Saved views" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack gap="xs">
        {views.length === 0 && <Text c="dimmed">No saved views.</Text>}
        {views.map((view) => (
          <Group key={view.name} gap="xs" wrap="nowrap">
            <TextField
              value={view.name}
              maxLength={60}
              aria-label={`Name of ${view.name}`}
              style={{ flex: 1 }}
              onCommit={(name) => name !== '' && rename(view, name)}
            />
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label={`Delete ${view.name}`}
              onClick={() => remove(view)}
            >
              <Trash2 size={16} />
            </ActionIcon>
          </Group>
        ))}
        <Text size="sm" c="dimmed">
          To rename a view, change its name and press Enter.
        </Text>
      </Stack>
    </Modal>
  );
}

import { Button, Kbd, Modal, Table } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Keyboard } from 'lucide-react';
import { useEffect, useRef } from 'react';

interface Shortcut {
  /** Value of `KeyboardEvent.key`. */
  key: string;
  /** Description of the action. Omitted for a second key with the same action. */
  description?: string;
  act: () => void;
}

/** Elements with their own keyboard behavior. */
const TYPING = 'input, textarea, select, [contenteditable], [role=menu]';
const HAS_ENTER = 'a, button, summary';

/** Handles single keys on the page, except while the user types or a dialog is open. */
export function useShortcuts(keys: Shortcut[]): void {
  const newest = useRef(keys);
  useEffect(() => {
    newest.current = keys;
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      const on = target instanceof Element ? target : document.body;
      if (event.defaultPrevented || ctrlKey || metaKey || altKey || on.closest(TYPING)) return;
      if ((key === 'Enter' && on.closest(HAS_ENTER)) || document.querySelector('[role=dialog]')) return;
      const found = newest.current.find((one) => one.key === key);
      if (!found) return;
      event.preventDefault();
      found.act();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

/** Lists the keyboard shortcuts, after `?` or a click. */
export function ShortcutsHelp({ keys }: { keys: Shortcut[] }) {
  const [opened, { open, close }] = useDisclosure();
  useShortcuts([{ key: '?', act: open }]);
  return (
    <>
      <Button variant="default" size="xs" leftSection={<Keyboard size={14} aria-hidden />} onClick={open}>
        Shortcuts&nbsp;<Kbd size="xs">?</Kbd>
      </Button>
      {opened && (
        <Modal opened onClose={close} title="Keyboard shortcuts" closeButtonProps={{ 'aria-label': 'Close' }}>
          <Table>
            <Table.Tbody>
              {keys.map(
                ({ key, description }) =>
                  description !== undefined && <ShortcutRow key={key} name={key} description={description} />,
              )}
              <ShortcutRow name="?" description="Show these shortcuts" />
            </Table.Tbody>
          </Table>
        </Modal>
      )}
    </>
  );
}

function ShortcutRow({ name, description }: { name: string; description: string }) {
  return (
    <Table.Tr>
      <Table.Td w={70}>
        <Kbd>{name}</Kbd>
      </Table.Td>
      <Table.Td>{description}</Table.Td>
    </Table.Tr>
  );
}

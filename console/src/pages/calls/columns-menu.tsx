import { Button, Checkbox, Popover, Stack } from '@mantine/core';
import { Columns3 } from 'lucide-react';
import type { List } from './list';

/** Chooses the columns that this browser shows. */
export function ColumnsMenu({ list: { columns, chosen, choose } }: { list: List }) {
  return (
    <Popover position="bottom-end" trapFocus returnFocus withRoles>
      <Popover.Target>
        <Button variant="default" size="xs" leftSection={<Columns3 size={14} aria-hidden />}>
          Columns
        </Button>
      </Popover.Target>
      <Popover.Dropdown mah={420} style={{ overflowY: 'auto' }} aria-label="Columns">
        <Checkbox.Group aria-label="Columns" value={chosen} onChange={choose}>
          <Stack gap={8}>
            {columns.map(({ id, title }) => (
              <Checkbox
                key={id}
                size="xs"
                value={id}
                label={title}
                disabled={chosen.length === 1 && chosen[0] === id}
              />
            ))}
          </Stack>
        </Checkbox.Group>
      </Popover.Dropdown>
    </Popover>
  );
}

import { Button, Collapse, Fieldset, Group, SimpleGrid, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ChevronDown, ChevronRight, X } from 'lucide-react';
import { useId } from 'react';
import { TextField } from './fields';
import { FILTER_NAMES, type FilterName, FILTERS, GROUPS } from './filters';
import { AccountField, ChoiceField, type FilterProps, QuickFilters } from './quick-filters';

const MORE = GROUPS.flatMap(({ names }) => names);

/** Shows the filter fields and the active filters. */
export function FilterPanel(props: FilterProps) {
  const { list, faults } = props;
  const id = useId();
  const [opened, { toggle }] = useDisclosure(false);
  const isShown = opened || MORE.some((name) => faults[name] !== undefined);
  const count = MORE.filter((name) => list.filters[name] !== undefined).length;
  const Arrow = isShown ? ChevronDown : ChevronRight;
  return (
    <Stack gap="xs" role="search" aria-label="Filters">
      <QuickFilters {...props} />
      <Group gap="xs">
        <Button
          variant="subtle"
          size="compact-sm"
          aria-expanded={isShown}
          aria-controls={id}
          onClick={toggle}
          leftSection={<Arrow size={14} aria-hidden />}
        >
          More filters{count > 0 && ` (${count})`}
        </Button>
        <ActiveFilters {...props} />
      </Group>
      <Collapse expanded={isShown} id={id}>
        <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm">
          {GROUPS.map(({ title, names }) => (
            <Fieldset key={title} legend={title} p="sm">
              <Stack gap="xs">
                {names.map((name) => (
                  <FilterField key={name} {...props} name={name} />
                ))}
              </Stack>
            </Fieldset>
          ))}
        </SimpleGrid>
      </Collapse>
    </Stack>
  );
}

function FilterField({ name, ...props }: FilterProps & { name: FilterName }) {
  const { list, faults } = props;
  const { label, help } = FILTERS[name];
  if (name === 'in_doubt' || name === 'approval') return <ChoiceField {...props} name={name} />;
  if (name === 'account') return <AccountField {...props} />;
  return (
    <TextField
      label={label}
      description={help}
      error={faults[name]}
      inputMode={name.endsWith('_usd') ? 'decimal' : undefined}
      value={list.filters[name] ?? ''}
      onCommit={(value) => list.change({ [name]: value })}
    />
  );
}

/** Lists the active filters, each with a button to remove it. */
function ActiveFilters({ list: { filters, change, show, view } }: FilterProps) {
  const names = FILTER_NAMES.filter((name) => filters[name] !== undefined);
  if (names.length === 0) return null;
  const clear = () =>
    show({ ...(view.sort && { sort: view.sort }), ...(view.page_size && { page_size: view.page_size }) });
  return (
    <Group gap={6} role="group" aria-label="Active filters">
      {names.map((name) => {
        const words = FILTERS[name].words(filters[name] ?? '');
        return (
          <Button
            key={name}
            variant="default"
            radius="xl"
            size="compact-sm"
            fw={400}
            maw="100%"
            rightSection={<X size={12} aria-hidden />}
            aria-label={`Remove the filter ${words}`}
            onClick={() => change({ [name]: undefined })}
          >
            {words}
          </Button>
        );
      })}
      {names.length > 1 && (
        <Button variant="subtle" size="compact-sm" onClick={clear}>
          Clear all
        </Button>
      )}
    </Group>
  );
}

import { Fieldset, NativeSelect, SimpleGrid } from '@mantine/core';
import { inWords } from '../../../components/values/format';
import { type Columns, FIELD_NAMES } from './statement-columns';

interface Props {
  /** The file's columns. */
  names: string[];
  columns: Columns;
  setColumns: (columns: Columns) => void;
}

/** Maps columns of a statement to fields. */
export function ColumnsInput({ names, columns, setColumns }: Props) {
  const set = (field: (typeof FIELD_NAMES)[number], column: string) => {
    const entries = Object.entries({ ...columns, [field]: column }).filter(([, name]) => name !== '');
    setColumns(Object.fromEntries(entries));
  };
  return (
    <Fieldset legend="Column mapping">
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {FIELD_NAMES.map((field) => (
          <NativeSelect
            key={field}
            size="xs"
            label={inWords(field)}
            value={columns[field] ?? ''}
            onChange={({ currentTarget: { value } }) => set(field, value)}
            data={[{ value: '', label: 'no column' }, ...names]}
          />
        ))}
      </SimpleGrid>
    </Fieldset>
  );
}

import { Fieldset, NativeSelect, SimpleGrid } from '@mantine/core';
import { TRANSACTION_FIELDS } from '../../../../../src/gateway/upstream/answers/fields';
import { inWords } from '../../../components/values/format';

interface Props {
  /** Columns of the file. */
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

/** Fields that a column of a statement can hold, with the names of the API and of the upstream. */
const FIELDS = { ...TRANSACTION_FIELDS, recipient: 'recipient' };
type Field = keyof typeof FIELDS;
const FIELD_NAMES = Object.keys(FIELDS) as Field[];

/** Columns by field. */
export type Columns = Partial<Record<Field, string>>;

const DELIMITERS: Record<string, string> = { comma: ',', semicolon: ';', tab: '\t', bar: '|' };

/** Size of the part of a file that contains its first line. */
const HEAD_BYTES = 65_536;

/** Returns the column names in the first line of a file. */
export async function columnsIn(file: File, delimiter: string): Promise<string[]> {
  const [line = ''] = (await file.slice(0, HEAD_BYTES).text()).replace(/^\ufeff/, '').split(/\r?\n/, 1);
  const names = line.split(DELIMITERS[delimiter] ?? ',').map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
  return [...new Set(names.filter((name) => name !== ''))];
}

/** Maps the columns that have the name of a field, ours or the upstream's. */
export function guess(names: string[]): Columns {
  return Object.fromEntries(
    FIELD_NAMES.flatMap((field) => {
      const column = names.find((name) => name === field) ?? names.find((name) => name === FIELDS[field]);
      return column === undefined ? [] : [[field, column]];
    }),
  );
}

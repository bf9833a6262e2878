import { ValidationError } from 'class-validator';
import { FIELD_NAMES, forTheRecord, pointerTo, toFaults } from './faults';
import { Text } from './rules/rules';

class Example {
  @Text({ max: 1, description: 'A field.' })
  exampleField!: string;
}

describe('faults', () => {
  it.each([
    ['a', '/x/a'],
    [0, '/x/0'],
    ['', '/x/'],
    ['a/b~c', '/x/a~1b~0c'],
    ['a\nb\u0085', '/x/a\ufffdb\ufffd'],
    ['a\ud800', '/x/a\ufffd'],
    ['🎉', '/x/🎉'],
    ['y'.repeat(101), `/x/${'y'.repeat(100)}`],
    [`${'y'.repeat(99)}🎉`, `/x/${'y'.repeat(99)}\ufffd`],
  ])('escape %j like JSON pointers, cut long names and replace unprintable characters', (key, pointer) => {
    expect(pointerTo('/x', key)).toBe(pointer);
  });

  it('are collected from a tree into a list with their paths', () => {
    const child: ValidationError = { property: '1', constraints: { a: 'must be an object' } };
    const tree: ValidationError[] = [
      { property: 'list', constraints: { a: 'one', b: 'two' }, children: [child, { property: '2' }] },
    ];
    expect(toFaults(tree)).toEqual([
      { pointer: '/list', detail: 'one' },
      { pointer: '/list', detail: 'two' },
      { pointer: '/list/1', detail: 'must be an object' },
    ]);
  });

  it('are recorded with field names and positions, and without names of the caller', () => {
    expect(Object.keys(new Example())).toEqual([]);
    expect(FIELD_NAMES).toContain('exampleField');
    const kept = [
      '',
      '/exampleField',
      '/exampleField/17/exampleField',
      '/ada@example.com',
      '/exampleField/0/+2348012345678',
      '/2348012345678',
      '/exampleField/a~1b',
      '/',
      '/ExampleField',
    ].map((pointer) => ({ pointer, detail: 'x' }));
    expect(forTheRecord(kept).map(({ pointer }) => pointer)).toEqual([
      '',
      '/exampleField',
      '/exampleField/17/exampleField',
      '/…',
      '/exampleField/0/…',
      '/…',
      '/exampleField/…',
      '/',
      '/…',
    ]);
    const extra = [{ pointer: '/exampleField/0/narration', detail: 'x' }];
    expect(forTheRecord(extra)[0]?.pointer).toBe('/exampleField/0/…');
    expect(forTheRecord(extra, ['narration'])).toEqual(extra);
  });
});

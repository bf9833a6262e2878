import { FaultList } from './faults';
import { FreeForm } from './free-form';
import { Limits, instantiate as instantiateBody } from './instantiate';
import { Items, NoProperties, Text } from './rules/rules';

class Base {
  @Text({ max: 9, description: 'Inherited.' })
  inherited!: string;
}
class Item extends Base {
  @Text({ max: 9, description: 'Its own.' })
  own!: string;
}
class Body {
  @Items(() => Item)
  items!: Item[];

  @Text({ max: 9, description: 'Beside.' })
  beside!: string;

  @FreeForm('Anything.')
  note?: object;
}

const instantiate = (value: object, type: new () => object, limits: Limits) => {
  const { instance, found } = instantiateBody(value, type, limits);
  return { instance, faults: found.faults };
};

const LIMITS = { maxItems: 3, extras: new Set(['narration']) };
const UNKNOWN = 'must not be sent, because it is not a field of this operation';
const pointersOf = (value: object) => instantiate(value, Body, LIMITS).faults.map(({ pointer }) => pointer);

describe('instantiate', () => {
  it('writes out the first 100 faults, and only counts the others', () => {
    const fields = Object.fromEntries(Array.from({ length: 70_000 }, (_, at) => [`field ${at}`, at]));
    const add = jest.spyOn(FaultList.prototype, 'add');
    const { found } = instantiateBody({ ...fields, items: [{ own: 1, wrong: 1 }, {}] }, Body, LIMITS);
    expect([found.faults.length, found.total, add.mock.calls.length]).toEqual([100, 70_001, 70_001]);
    expect(found.brokenItems).toEqual(new Set([0]));
    const pointer = jest.fn(() => '/x');
    found.add(pointer, pointer);
    expect(pointer).not.toHaveBeenCalled();
  });

  it('treats every item of a list that is too long as faulty', () => {
    const { found } = instantiateBody({ items: [{}, {}, {}, {}, {}] }, Body, LIMITS);
    expect(found.brokenItems.size).toBe(5);
  });

  it('keeps the fields that the class, its items and their parents declare', () => {
    const body = { beside: 'a', items: [{ own: 'b', inherited: 'c' }] };
    expect(instantiate(body, Body, LIMITS)).toEqual({ instance: body, faults: [] });
    expect(instantiate({}, NoProperties, LIMITS)).toEqual({ instance: {}, faults: [] });
  });

  it('removes all other fields at any depth, and reports them', () => {
    const { instance, faults } = instantiate(
      {
        own: 1,
        items: [
          { own: 'b', beside: 2 },
          { inherited: 'c', items: [] },
        ],
      },
      Body,
      LIMITS,
    );
    expect(instance).toEqual({ items: [{ own: 'b' }, { inherited: 'c' }] });
    expect(faults).toEqual(
      ['/own', '/items/0/beside', '/items/1/items'].map((pointer) => ({ pointer, detail: UNKNOWN })),
    );
  });

  it('treats names with a meaning in JavaScript like any other', () => {
    const names = [
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'valueOf',
      'hasOwnProperty',
      'then',
      'toJSON',
    ];
    const strange = `{${names.map((name) => `"${name}":{"own":"x"}`).join()}}`;
    const value = JSON.parse(strange) as object;
    expect(pointersOf(value)).toEqual(names.map((name) => `/${name}`));
    const { instance } = instantiate(value, Body, LIMITS);
    expect(Object.getPrototypeOf(instance)).toBe(Body.prototype);
    expect(Object.keys(instance)).toEqual([]);
    expect(instantiate(JSON.parse(strange) as object, NoProperties, LIMITS).faults).toHaveLength(
      names.length,
    );
  });

  it('keeps extra fields after the known ones, also in items, if they contain no other values', () => {
    const body = { narration: 'a', items: [{ narration: 5, own: 'b' }], beside: 'c' };
    const { instance, faults } = instantiate(body, Body, LIMITS);
    expect(JSON.stringify(instance)).toBe(
      '{"items":[{"own":"b","narration":5}],"beside":"c","narration":"a"}',
    );
    expect(faults).toEqual([]);
    for (const narration of ['', 'x'.repeat(1_000), 0, -1.5, true, false]) {
      expect(instantiate({ narration }, Body, LIMITS)).toEqual({ instance: { narration }, faults: [] });
    }
    for (const narration of [
      null,
      [],
      {},
      ['a'],
      'x'.repeat(1_001),
      'a\0',
      'a\nb',
      '\ud800',
      Infinity,
      2 ** 53,
    ]) {
      expect(instantiate({ items: [{ narration }] }, Body, LIMITS)).toMatchObject({
        instance: { items: [{}] },
        faults: [
          { pointer: '/items/0/narration', detail: expect.stringMatching(/^must be text of at most 1000/) },
        ],
      });
    }
    expect(pointersOf({ Narration: 1, narration_: 1 })).toEqual(['/Narration', '/narration_']);
  });

  it('makes instances of the classes, whose rules then apply', () => {
    const { instance } = instantiate({ items: [{}, 5] }, Body, LIMITS);
    expect(instance).toBeInstanceOf(Body);
    expect((instance as Body).items.map((item) => item instanceof Item)).toEqual([true, false]);
  });

  it('keeps free-form values unchanged, at their place among the fields', () => {
    const poisoned: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":[]}');
    for (const note of [poisoned, [], 'x', null, 5]) {
      const { instance, faults } = instantiate({ note, beside: 'a' }, Body, LIMITS);
      expect(Object.keys(instance)).toEqual(['note', 'beside']);
      expect((instance as Body).note).toBe(note);
      expect(faults).toEqual([]);
    }
  });

  it('reads no more items than allowed, and reports their number', () => {
    const items = [{}, {}, {}, { unknown: 1 }, { unknown: 1 }];
    const { instance, faults } = instantiate({ items }, Body, LIMITS);
    expect(instance).toEqual({ items: [{}, {}, {}] });
    expect(faults).toEqual([{ pointer: '/items', detail: 'must have at most 3 items, and has 5' }]);
  });

  it('passes only values and lists of the right kind to the rule of a field', () => {
    for (const wrong of [{ constructor: 1 }, [1], [[]], {}]) {
      expect(instantiate({ beside: wrong }, Body, LIMITS)).toEqual({ instance: { beside: [] }, faults: [] });
    }
    for (const wrong of [{ 0: {} }, 'text', 5, null]) {
      expect(instantiate({ items: wrong }, Body, LIMITS)).toEqual({ instance: { items: [] }, faults: [] });
    }
    expect(
      instantiate({ items: [5, null, [], [{}], 'x'] }, Body, { ...LIMITS, maxItems: 5 }).instance,
    ).toEqual({
      items: [null, null, null, null, null],
    });
  });
});

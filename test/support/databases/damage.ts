/** Changes a JSON document in place, without a care for what it should look like. */
export type Damage = (document: object) => void;

/** What stands at a place of a JSON document, such as `items/0/amount_usd`. */
export function at(document: object, place: string): unknown {
  return place.split('/').reduce<unknown>((value, name) => Reflect.get(value as object, name), document);
}

/** Puts a value at a place, or what a function makes of the value that is there. */
export function put(place: string, value: unknown): Damage {
  return (document) => {
    const [holder, name] = holderOf(document, place);
    const before: unknown = Reflect.get(holder, name);
    Reflect.set(holder, name, typeof value === 'function' ? (value as (before: unknown) => unknown)(before) : value);
  };
}

/** The same for a list. */
export function putList(place: string, change: (list: unknown[]) => unknown[]): Damage {
  return put(place, (list: unknown[]) => change([...list]));
}

/** Copies what stands at one place to another. */
export function copy(from: string, to: string): Damage {
  return (document) => put(to, at(document, from))(document);
}

export function remove(place: string): Damage {
  return (document) => {
    const [holder, name] = holderOf(document, place);
    Reflect.deleteProperty(holder, name);
  };
}

export function all(...damages: Damage[]): Damage {
  return (document) => damages.forEach((damage) => damage(document));
}

function holderOf(document: object, place: string): [holder: object, name: string] {
  const names = place.split('/');
  const name = names.pop() ?? '';
  return [names.length === 0 ? document : (at(document, names.join('/')) as object), name];
}

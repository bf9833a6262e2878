/** Changes a JSON document in place, without validation. */
export type Damage = (document: object) => void;

/** Returns the value at a path of a JSON document, such as `items/0/amount_usd`. */
export function at(document: object, place: string): unknown {
  return place.split('/').reduce<unknown>((value, name) => Reflect.get(value as object, name), document);
}

/** Sets the value at a path, or maps it with a function. */
export function put(place: string, value: unknown): Damage {
  return (document) => {
    const [holder, name] = holderOf(document, place);
    const before: unknown = Reflect.get(holder, name);
    Reflect.set(
      holder,
      name,
      typeof value === 'function' ? (value as (before: unknown) => unknown)(before) : value,
    );
  };
}

/** Maps the list at a path. */
export function putList(place: string, change: (list: unknown[]) => unknown[]): Damage {
  return put(place, (list: unknown[]) => change([...list]));
}

/** Copies the value at one path to another. */
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

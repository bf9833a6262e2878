/** A module among the lines of a pack. */
interface PlacedModule {
  /** Path from the folder of the program. */
  path: string;
  pack: number;
  /** The line of the pack before its first one. */
  line: number;
}

/** Frames have a text, which their type lacks. */
interface Text {
  toString(): string;
}

/** What V8 calls the packs. Compiled code contains the name, so it does not depend on a folder. */
export const PACKS = 'modules.compiled';

const POSITION = new RegExp(`${PACKS}/(\\d+):(\\d+)`, 'g');

/**
 * Names modules in stacks, where V8 names lines of a pack.
 * @param modules in the order of their packs and lines.
 */
export function nameModulesInStacks(root: string, modules: PlacedModule[]): void {
  const name = (_: string, pack: string, line: string) => {
    const { path, line: before } = moduleAt(modules, Number(pack), Number(line));
    return `${root}${path}:${Number(line) - before}`;
  };
  // Node itself joins the frames in the same way.
  Error.prepareStackTrace = (error, frames: Text[]) =>
    [headOf(error), ...frames].join('\n    at ').replaceAll(POSITION, name);
}

function headOf(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return '<error>'; // a thrown object without a text, as in Node
  }
}

/** Returns the last module that begins before a line. */
function moduleAt(modules: PlacedModule[], pack: number, line: number): PlacedModule {
  let [from, to] = [0, modules.length];
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    const module = modules[middle]!;
    const isBefore = module.pack < pack || (module.pack === pack && module.line < line);
    if (isBefore) from = middle;
    else to = middle;
  }
  return modules[from]!;
}

import { hash } from 'node:crypto';
import { fstatSync, lstatSync, openSync, readFileSync, readSync, realpathSync } from 'node:fs';
import Module from 'node:module';
import { dirname, join, sep } from 'node:path';
import { constants, Script } from 'node:vm';
import { nameModulesInStacks, PACKS } from './stack-positions';

/**
 * Loads modules from one file, with the code that `npm run build` compiled (tools/compile-modules.mjs). A
 * start loads 2,000 modules, and most of its CPU time went into finding, reading and compiling them. A
 * module whose own file has changed since the build is loaded from there. Without the file of the build, or
 * with another Node, Node's own loader does everything. Measured: decision 0072.
 */

const ROOT = join(__dirname, '..', '..', '..') + sep;

/** The file begins with the length of its index. Then come the index, and the packs. */
const LENGTH_BYTES = 4;

/** Position of the hash of V8's flags in compiled code. Flags of memory change it. The code stays valid. */
const FLAGS_AT = 12;

/** What the build knows about a module. */
interface PackedModule {
  /** Path from the folder of the program. */
  path: string;
  pack: number;
  /** Place in the pack, and the line before its first one. */
  place: number;
  line: number;
  /** Of its own file: the size, the time of the last change in seconds, and the hash. */
  bytes: number;
  changed: number;
  hash: string;
}

/** Modules that processes load together. Their text is a list of functions, which V8 compiles as a whole. */
interface Pack {
  encoding: 'latin1' | 'utf16le';
  textAt: number;
  textBytes: number;
  codeAt: number;
  /** 0 while the build has not compiled it yet. */
  codeBytes: number;
}

interface Index {
  /** Version of the Node that compiled the code. */
  node: string;
  /** Length of the file after the index. */
  bytes: number;
  packs: Pack[];
  modules: PackedModule[];
  /** The module of each request, by the folder of the module that requires it. */
  requests: Partial<Record<string, Record<string, number>>>;
}

type Body = (this: unknown, ...given: unknown[]) => void;

/** Members of Node's loader that its types lack. */
interface Loader {
  _extensions: Record<string, (module: NodeModule, filename: string) => void>;
  _cache: NodeJS.Require['cache'];
  _resolveFilename: (request: string, parent?: NodeModule, isMain?: boolean, options?: object) => string;
}

const loader = Module as unknown as Loader;

/** Reads one file of compiled modules. */
class CompiledModules {
  private readonly byPath: Map<string, PackedModule>;
  private readonly bodies: (Body[] | undefined)[] = [];
  private readonly folders = new Map<string, boolean>();
  private readonly current = new Map<PackedModule, boolean>();

  private constructor(
    private readonly file: number,
    private readonly index: Index,
    private readonly packsAt: number,
  ) {
    this.byPath = new Map(index.modules.map((module) => [ROOT + module.path, module]));
    nameModulesInStacks(ROOT, index.modules);
  }

  /** @returns undefined without a complete file of this Node. */
  static open(name: string): CompiledModules | undefined {
    try {
      const file = openSync(name, 'r');
      const indexBytes = read(file, 0, LENGTH_BYTES).readUInt32LE(0);
      const index = JSON.parse(read(file, LENGTH_BYTES, indexBytes).toString()) as Index;
      const packsAt = LENGTH_BYTES + indexBytes;
      const isComplete = fstatSync(file).size === packsAt + index.bytes;
      return isComplete && index.node === process.version
        ? new CompiledModules(file, index, packsAt)
        : undefined;
    } catch {
      return undefined;
    }
  }

  /** Returns the file of a request. Undefined if it is not known, or has changed. */
  fileOf(request: string, folder: string | undefined): string | undefined {
    if (!folder?.startsWith(ROOT)) return undefined;
    const known = this.index.requests[folder.slice(ROOT.length)]?.[request];
    if (known === undefined) return undefined;
    const module = this.index.modules[known]!;
    return this.isCurrent(module) ? ROOT + module.path : undefined;
  }

  /** Returns a module as a function. Undefined if it is not known, or has changed. */
  bodyOf(filename: string): Body | undefined {
    const module = this.byPath.get(filename);
    if (!module || !this.isCurrent(module)) return undefined;
    const bodies = (this.bodies[module.pack] ??= this.load(module.pack));
    return bodies[module.place];
  }

  /** Returns whether the build compiled a module from what its own file has now. */
  private isCurrent(module: PackedModule): boolean {
    const known = this.current.get(module);
    if (known !== undefined) return known;
    const filename = ROOT + module.path;
    const isCurrent = this.isRealFolder(dirname(filename)) && hasContent(filename, module);
    this.current.set(module, isCurrent);
    return isCurrent;
  }

  /** Returns whether a folder has this name. Node names a module by its path without symbolic links. */
  private isRealFolder(folder: string): boolean {
    const known = this.folders.get(folder);
    if (known !== undefined) return known;
    const isReal = isRealPath(folder);
    this.folders.set(folder, isReal);
    return isReal;
  }

  private load(number: number): Body[] {
    const pack = this.index.packs[number]!;
    const text = read(this.file, this.packsAt + pack.textAt, pack.textBytes).toString(pack.encoding);
    const options = {
      filename: `${PACKS}/${number}`,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    };
    if (pack.codeBytes === 0) return new Script(text, options).runInThisContext() as Body[];
    const cachedData = read(this.file, this.packsAt + pack.codeAt, pack.codeBytes);
    cachedData.writeUInt32LE(flagsNow(), FLAGS_AT);
    return new Script(text, { ...options, cachedData }).runInThisContext() as Body[];
  }
}

/** Copies of a program have other times. */
function hasContent(filename: string, { bytes, changed, hash: expected }: PackedModule): boolean {
  const stat = lstatSync(filename, { throwIfNoEntry: false });
  if (!stat?.isFile() || stat.size !== bytes) return false;
  return secondsOf(stat.mtimeMs) === changed || hash('sha1', readFileSync(filename), 'base64') === expected;
}

const secondsOf = (ms: number) => Math.trunc(ms / 1_000);

function isRealPath(path: string): boolean {
  try {
    return realpathSync.native(path) === path;
  } catch {
    return false;
  }
}

function read(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(length);
  readSync(file, bytes, 0, length, at);
  return bytes;
}

const flagsNow = () => new Script('').createCachedData().readUInt32LE(FLAGS_AT);

/** Runs a module as Node's own loader does. */
function run(module: NodeModule, filename: string, body: Body): void {
  const require = ((id: string): unknown => module.require(id)) as NodeJS.Require;
  require.resolve = ((request: string, options?: object) =>
    loader._resolveFilename(request, module, false, options)) as NodeJS.RequireResolve;
  require.main = process.mainModule;
  require.extensions = loader._extensions as NodeJS.Require['extensions'];
  require.cache = loader._cache;
  body.call(module.exports, module.exports, require, module, filename, dirname(filename));
}

/** Loads modules from a file of the build, if it is there and of this Node. */
export function useCompiledModules(file: string): void {
  const compiled = CompiledModules.open(file);
  if (!compiled) return;
  const [load, resolve] = [loader._extensions['.js']!, loader._resolveFilename];
  loader._extensions['.js'] = (module, filename) => {
    const body = compiled.bodyOf(filename);
    if (body) run(module, filename, body);
    else load(module, filename);
  };
  loader._resolveFilename = (request, parent, isMain, options) =>
    (options ? undefined : compiled.fileOf(request, parent?.path)) ??
    resolve.call(loader, request, parent, isMain, options);
}

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(__dirname, '..', '..', '..');

export interface SourceFile {
  /** Path below the project's root, with slashes: `src/journal/records/intents.ts`. */
  path: string;
  text: string;
  /** Its imports: paths of source files, or names of packages. */
  imports: string[];
}

/** Returns the files of a folder, without generated ones. */
export function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.includes('generated'))
    .map((path) => read(join(ROOT, folder, path)));
}

function read(file: string): SourceFile {
  const text = readFileSync(file, 'utf8');
  const names = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
  const imports = names.map((name) =>
    name.startsWith('.') ? pathBelowRoot(importedFile(file, name)) : name,
  );
  return { path: pathBelowRoot(file), text, imports };
}

/** Returns the source file of a relative import. */
function importedFile(importer: string, name: string): string {
  const base = resolve(dirname(importer), name.replace(/\.[jt]s$/, ''));
  return existsSync(`${base}.tsx`) ? `${base}.tsx` : `${base}.ts`;
}

const pathBelowRoot = (file: string) => relative(ROOT, file).replaceAll('\\', '/');

/** Returns a circular path of imports. Undefined without one. */
export function findCycle(files: SourceFile[]): string[] | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const next of byPath.get(path)?.imports ?? []) {
      const cycle = byPath.has(next) ? visit(next, [...trail, path]) : undefined;
      if (cycle) return cycle;
    }
    done.add(path);
    return undefined;
  };
  return files.map(({ path }) => visit(path, [])).find((cycle) => cycle !== undefined);
}

/** Returns the lines that spread a literal, such as `...{ a, b }` or `<X {...{ a, b }} />`. */
export function literalSpreads(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  if (!/\.\.\.\s*[[{]/.test(text)) return [];
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    const isSpread = ts.isSpreadElement(node) || ts.isSpreadAssignment(node) || ts.isJsxSpreadAttribute(node);
    const spread = isSpread ? node.expression : undefined;
    if (spread && (ts.isArrayLiteralExpression(spread) || ts.isObjectLiteralExpression(spread))) {
      found.push(`${path}:${file.getLineAndCharacterOfPosition(spread.pos).line + 1}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Returns the paths of all hand-written code, including scripts and the console. */
export function codeFiles(): string[] {
  return ['src', 'test', 'console/src', 'packages/sdk', 'examples', 'bench', 'tools'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(tsx?|[cm]js)$/.test(path) && !/generated|dist|node_modules/.test(path))
      .map((path) => `${folder}/${path}`),
  );
}

const SKIPPED = ['node_modules', 'dist', 'generated', '.git', '.data', 'coverage'];

/** Returns the hand-written files below a folder whose names have this ending, as paths below the root. */
export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.includes(entry.name) ? [] : filesBelow(path, ending);
    return entry.name.endsWith(ending) ? [path] : [];
  });
}

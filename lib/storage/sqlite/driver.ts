/** Where packages are looked for: in a bundle of CommonJS, a module has no address. */
export const BASE = (import.meta.url as string | undefined) ?? `${process.cwd()}/`

/**
 * Why the installed better-sqlite3 would end the process, if it would. Below 13 and compiled for Node 24.19 or later, it does
 * when its statements are collected as garbage; 13 does before Node 22.14, at once. npm installs the right one for a
 * Node, unless a lockfile has the other one.
 *
 * @param node as in `process.versions`
 * @param addon its version; `undefined` where it is not found: loading it then reports why
 */
export function addonTrouble(node = process.versions.node, addon = addonVersion()): string | undefined {
  if (addon === undefined) return undefined
  const isNew = Number.parseInt(addon, 10) >= 13
  if (isNew && !isFrom(node, 22, 14))
    return `better-sqlite3 ${addon} needs Node 22.14 or later: install better-sqlite3@12`
  if (!isNew && isFrom(node, 24, 19))
    return `This Node needs better-sqlite3 13, not ${addon}: install better-sqlite3@13`
  return undefined
}

function isFrom(node: string, major: number, minor: number): boolean {
  const [its = 0, itsMinor = 0] = node.split('.').map(Number)
  return its > major || (its === major && itsMinor >= minor)
}

function addonVersion(): string | undefined {
  try {
    // Not imported: a bundle of ES modules often has an import of this name in its banner.
    const { createRequire } = process.getBuiltinModule('node:module')
    return (createRequire(BASE)('better-sqlite3/package.json') as { version: string }).version
  } catch {
    return undefined
  }
}

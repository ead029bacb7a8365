import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, resolve } from 'node:path'

/** What is to be done with a path. */
export type Wish = 'read' | 'write'

/**
 * Why this user may not use a path: the folder or file that refuses it, the missing permission, the user, and the owner.
 *
 * @param wish without it, the first permission that is missing
 */
export function describeRefusal(path: string, wish?: Wish): string {
  try {
    const refusal = findRefusal(resolve(path), wish)
    if (refusal) return `${thisUser()} may not ${refusal.may} ${refusal.subject}${ownerOf(refusal.subject)}: ${REMEDY}`
  } catch {
    // It has changed since.
  }
  return `no permission for ${path}: ${REMEDY}`
}

const REMEDY = 'run this command as the user of the service, or grant the permission'

/** The first part of the path that refuses, from the root. */
function findRefusal(path: string, wish: Wish | undefined): { subject: string; may: string } | undefined {
  const folders = foldersOf(path)
  const closed = folders.find((folder) => isThere(folder) && !allows(folder, constants.X_OK))
  if (closed) return { subject: closed, may: 'enter the folder' }
  if (!isThere(path)) {
    const parent = folders.findLast(isThere)
    return parent && !allows(parent, constants.W_OK)
      ? { subject: parent, may: 'create files in the folder' }
      : undefined
  }
  const isFolder = statSync(path).isDirectory()
  if (wish !== 'write' && !allows(path, constants.R_OK))
    return { subject: path, may: isFolder ? 'list the folder' : 'read the file' }
  if (wish !== 'read' && !allows(path, constants.W_OK))
    return { subject: path, may: isFolder ? 'create files in the folder' : 'write to the file' }
  const parent = dirname(path)
  if (wish !== 'read' && !allows(parent, constants.W_OK)) return { subject: parent, may: 'create files in the folder' }
  return undefined
}

/** The folders above a path, the root first. */
function foldersOf(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...foldersOf(parent), parent]
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

function isThere(path: string): boolean {
  return allows(path, constants.F_OK)
}

/** `user "chat" (uid 998)` */
function thisUser(): string {
  const uid = process.geteuid?.()
  return uid === undefined ? `user "${userInfo().username}"` : describeUser(uid)
}

function ownerOf(path: string): string {
  const { uid, mode } = statSync(path)
  return ` (owner ${describeUser(uid)}, mode ${(mode & 0o7777).toString(8).padStart(4, '0')})`
}

/** Node has no look-up of users: the name is that of /etc/passwd, if it has one. */
function describeUser(uid: number): string {
  return [namesOfUsers().get(uid), `uid ${uid}`].filter(Boolean).join(', ')
}

function namesOfUsers(): Map<number, string> {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
    return new Map(lines.map((line) => line.split(':')).map(([name = '', , uid]) => [Number(uid), name]))
  } catch {
    return new Map()
  }
}

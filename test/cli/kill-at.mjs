// Loaded by `node --import` before a command: sends it a signal at one of the steps at which it changes files.
import { ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'

const { KILL_AT, KILL_SIGNAL, KILL_FOLDER, KILL_STEPS, KILL_CHILDREN } = process.env
const append = fs.appendFileSync
let steps = 0
let last

/** Several of a kind in a row are one step, as the lines of an export are. */
function step(name) {
  if (name === last) return
  last = name
  steps++
  append(KILL_STEPS, `${name}\n`)
  if (steps === Number(KILL_AT)) process.kill(process.pid, KILL_SIGNAL)
}

const changes = (name, [first, flags]) => {
  if (typeof first === 'number') return /^(fsync|write)Sync$/.test(name) && first > 2
  if (!resolve(String(first)).startsWith(KILL_FOLDER)) return false
  return !/^open(Sync)?$/.test(name) || /[wa]/.test(String(flags))
}

const NAMES = ['open', 'mkdir', 'rename', 'link', 'rm', 'writeFile', 'copyFile']

function patch(target, names) {
  for (const name of names) {
    const original = target[name]
    target[name] = function (...args) {
      if (changes(name, args)) step(name)
      return original.apply(this, args)
    }
  }
}

// `mkdirSync` is called for folders that exist, too, and changes nothing then.
const SYNC = NAMES.filter((name) => name !== 'mkdir').map((name) => `${name}Sync`)
patch(fs, ['open', 'fsyncSync', 'writeSync', ...SYNC])
patch(fs.promises, NAMES)
const { spawn } = ChildProcess.prototype
ChildProcess.prototype.spawn = function (...args) {
  const result = spawn.apply(this, args)
  append(KILL_CHILDREN, `${this.pid}\n`)
  step('spawn')
  return result
}
syncBuiltinESMExports()

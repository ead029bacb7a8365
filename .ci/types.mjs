// Checks all types, each program of them beside another one: a compiler uses one core.
import { spawn } from 'node:child_process'

const COMPILER = 'node_modules/typescript/bin/tsc'

/** What is published; all else but packages of their own, which are compiled when their part of the tests runs; the web chat. */
const PROGRAMS = [
  ['-p', 'test/tsconfig.json'],
  ['-p', 'tsconfig.json', '--noEmit'],
  ['-p', 'examples/web-chat'],
]

/** How many run at a time: each takes a gigabyte. */
const AT_A_TIME = 2

function compile(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [COMPILER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text
    })
    child.once('close', (status) => {
      // Together, not line by line with another one's.
      process.stdout.write(output)
      resolve(status ?? 1)
    })
  })
}

async function compileNext() {
  for (let args = PROGRAMS.shift(); args !== undefined; args = PROGRAMS.shift())
    if ((await compile(args)) !== 0) process.exitCode = 1
}

await Promise.all(Array.from({ length: AT_A_TIME }, compileNext))

import { readFileSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { parseJSON, parseTOML, parseYAML } from 'confbox'
import { ConfigError } from '../../lib/config/parse.ts'
import { describeRefusal } from '../permission.ts'

/** A configuration file as written, not validated yet. */
export interface ConfigFile {
  path: string
  text: string
  content: unknown
}

/** Far above any real file: a larger one is a mistake and would only use memory. */
const MAX_FILE_BYTES = 1024 * 1024

const PARSERS: Record<string, (text: string) => unknown> = {
  '.toml': parseTOML,
  '.json': parseJSON,
  '.yaml': parseYaml,
  '.yml': parseYaml,
}

/** YAML knows no document of nothing but comments, such as the template of `config init`. */
function parseYaml(text: string): unknown {
  return text.split('\n').every((line) => /^\s*(#|$)/.test(line)) ? {} : parseYAML(text)
}

/**
 * Reads a TOML, JSON or YAML file, by the extension of its name.
 *
 * @throws ConfigError with the path as its key; it never quotes the file, which may hold secrets
 */
export function readConfigFile(path: string): ConfigFile {
  const parse = PARSERS[extname(path).toLowerCase()]
  if (!parse) throw refused(path, 'must end in .toml, .json, .yaml or .yml')
  const text = readText(path)
  if (text.trim() === '') throw refused(path, 'is empty')
  try {
    return { path, text, content: parse(text) }
  } catch (error) {
    throw refused(path, describeSyntax(text, error))
  }
}

/** The line, from 1, that probably sets `key`; `undefined` if it is not found. */
export function findLine(text: string, key: string): number | undefined {
  const lines = text.split('\n')
  let line = 0
  for (const name of key.split('.')) {
    // A whole name, as all three formats write it: in a header, before `=` or `:`, or quoted.
    const set = new RegExp(`^[^#]*(^|[\\s.{\\["'])${escapeRegExp(name)}["']?\\s*([.\\]=:]|$)`)
    line = lines.findIndex((each, index) => index >= line && set.test(each))
    if (line === -1) return undefined
  }
  return line + 1
}

function readText(path: string): string {
  try {
    const stat = statSync(path)
    if (stat.isDirectory()) throw refused(path, 'is a directory')
    // Reading a pipe waits for a writer; a device may never end.
    if (!stat.isFile()) throw refused(path, 'is not a file')
    if (stat.size > MAX_FILE_BYTES) throw refused(path, 'is larger than 1 MiB')
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw refused(path, describeReading(path, error as NodeJS.ErrnoException))
  }
}

function describeReading(path: string, { code }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
  if (code === 'EACCES' || code === 'EPERM') return describeRefusal(path, 'read')
  return code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8' : `cannot be read (${code})`
}

/** Parsers quote the text they fail on; only the line, and for TOML and YAML the reason, is returned. */
function describeSyntax(text: string, error: unknown): string {
  const { line, mark, message, reason } = error as Error & { line?: number; mark?: { line: number }; reason?: string }
  const position = /at position (\d+)/.exec(message)?.[1]
  const at = line ?? (mark && mark.line + 1) ?? (position && text.slice(0, Number(position)).split('\n').length)
  const why = reason ?? /^Invalid TOML document: (.*)/.exec(message)?.[1] ?? 'is not valid JSON'
  return at ? `${why} (line ${at})` : why
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function refused(path: string, message: string): ConfigError {
  return new ConfigError([{ key: path || 'configuration file', message }])
}

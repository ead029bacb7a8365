import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { MailKind } from './schema.ts'
import { type MailText, placeholdersOf, TEXTS } from './texts.ts'

/** A mail is a few sentences. */
const MAX_BYTES = 16 * 1024

const MAX_SUBJECT_LENGTH = 200

/** `Subject: …`, an empty line, and the text. */
const FORM = /^Subject: *([^\r\n]+)\r?\n\r?\n([\s\S]*\S[\s\S]*)$/

/**
 * The texts of all mails: those of the files in a folder, such as `reset_password.txt`, and the service's own for the rest.
 *
 * @throws Error that names the file, and what is wrong with it
 */
export async function loadTexts(folder: string | undefined): Promise<Record<MailKind, MailText>> {
  if (folder === undefined) return TEXTS
  const texts = { ...TEXTS }
  const files = await readdir(folder).catch((cause) => {
    throw new Error(`mail.templates: ${folder} cannot be read (${(cause as NodeJS.ErrnoException).code})`, { cause })
  })
  const names = files.filter((name) => name.endsWith('.txt')).sort()
  for (const name of names) {
    const kind = MailKind.options.find((kind) => `${kind}.txt` === name)
    const path = join(folder, name)
    if (!kind)
      throw new Error(`mail.templates: ${path} is no mail: the names are ${MailKind.options.join('.txt, ')}.txt`)
    const { size } = await stat(path)
    if (size > MAX_BYTES) throw new Error(`mail.templates: ${path} has more than ${MAX_BYTES} bytes`)
    texts[kind] = parseText((await readFile(path, 'utf8')).replace(/^\ufeff/, ''), kind, path)
  }
  return texts
}

function parseText(content: string, kind: MailKind, path: string): MailText {
  const [, subject = '', text = ''] = FORM.exec(content) ?? []
  if (!subject)
    throw new Error(`mail.templates: ${path} must begin with "Subject: …", an empty line, and then the text`)
  if (subject.length > MAX_SUBJECT_LENGTH)
    throw new Error(`mail.templates: the subject of ${path} has more than ${MAX_SUBJECT_LENGTH} characters`)
  const placeholders = placeholdersOf(kind)
  const unknown = [...`${subject}${text}`.matchAll(/\{(\w+)\}/g)].find(([, name]) => !placeholders.includes(name!))
  if (unknown) {
    const names = placeholders
      .map((name) => `{${name}}`)
      .join(', ')
      .replace(/, ([^,]+)$/, ' and $1')
    throw new Error(`mail.templates: ${path} has ${unknown[0]}; only ${names} are replaced`)
  }
  if (kind !== 'notification' && TEXTS[kind].text.includes('{link}') && !text.includes('{link}'))
    throw new Error(`mail.templates: ${path} has no {link}`)
  // A subject is shown where others can see it.
  if (subject.includes('{link}')) throw new Error(`mail.templates: the subject of ${path} must not have {link}`)
  return { subject, text: text.replaceAll('\r\n', '\n') }
}

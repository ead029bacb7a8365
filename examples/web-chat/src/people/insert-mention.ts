import { replaceIn } from '../compose/edit.ts'
import { afterFrame } from '../parts/after-frame.ts'

/** Mentions a person in the box: of the thread, where one is open. It waits for the focus that a closed dialog returns. */
export function insertMention(username: string): void {
  afterFrame(() => {
    const field = Array.from(document.querySelectorAll<HTMLTextAreaElement>('.composer textarea')).at(-1)
    if (!field) return
    const { selectionStart: at, value } = field
    const text = `${at > 0 && !/\s$/.test(value.slice(0, at)) ? ' ' : ''}@${username} `
    replaceIn(field, { from: at, to: at, text, start: at + text.length, end: at + text.length })
  })
}

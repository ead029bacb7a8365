import { MESSAGE_KEYS } from './message-table.ts'
import { EDIT_LAST, FORMAT_KEYS, type Keys, SHELL_KEYS } from './table.ts'

/** All keys by where they work, as the sheet and the documentation show them. @param doesEnterSend as the user has chosen */
export function sheetTables(doesEnterSend: boolean) {
  const enter: Keys = { key: 'Enter' }
  const shifted: Keys = { key: 'Enter', shift: true }
  const [send, line] = doesEnterSend ? [enter, shifted] : [shifted, enter]
  return {
    page: { ...SHELL_KEYS, escape: [{ key: 'Escape' }] },
    box: { send: [send], line: [line], ...EDIT_LAST, ...FORMAT_KEYS },
    message: MESSAGE_KEYS,
  } satisfies Record<string, Readonly<Record<string, readonly Keys[]>>>
}

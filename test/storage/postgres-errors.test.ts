import { expect, it } from 'vitest'
import { EXPECTED, unexpectedErrors } from '../support/postgres-errors.ts'

it('the log of a run may have no error that a list does not name, and never one of a statement', () => {
  const log = [
    '00000 7 LOG:  checkpoint starting: immediate force wait',
    '42601 11 ERROR:  syntax error at or near "some" at character 47',
    '23505 12 ERROR:  duplicate key value violates unique constraint "users_username_key_key"',
    '23505 12 DETAIL:  Key (username_key)=(ada) already exists.',
    '11 STATEMENT:  no prefix',
    '42601 11 STATEMENT:  SELECT 1 AS some',
    '\tFROM things',
    '23505 12 STATEMENT:  INSERT INTO users',
    '42703 13 ERROR:  column "nothing" does not exist at character 8',
    '42703 13 STATEMENT:  SELECT nothing',
    '42703 13 ERROR:  column "nothing" does not exist at character 8',
    '42703 13 STATEMENT:  SELECT nothing FROM users',
    '25P01 14 ERROR:  SAVEPOINT can only be used in transaction blocks',
    '25P01 14 STATEMENT:  SAVEPOINT other',
    'XX000 15 PANIC:  could not write',
    '57P01 16 FATAL:  terminating connection due to administrator command',
    '42601 17 ERROR:  syntax error at or near "some" at character 47',
    '42601 17 STATEMENT:  SELECT 1 AS some',
  ].join('\n')
  expect(unexpectedErrors(log)).toEqual([
    '42601 syntax error at or near "some" at character 47: SELECT 1 AS some',
    '42703 column "nothing" does not exist at character 8: SELECT nothing FROM users',
    '25P01 SAVEPOINT can only be used in transaction blocks: SAVEPOINT other',
    'XX000 could not write: ',
  ])
})

it('no error of the text of a statement is expected as such', () => {
  const ofTexts = EXPECTED.filter(({ code }) => code.startsWith('42'))
  expect(ofTexts.filter(({ message, statement }) => !message && !statement)).toEqual([])
  expect(EXPECTED.filter(({ code }) => ['42601', '42883', '42804', '42P02', '42P18', '42846'].includes(code))).toEqual(
    [],
  )
  expect(EXPECTED.filter(({ why }) => why.length === 0)).toEqual([])
})

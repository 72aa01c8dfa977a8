import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../runtime/api/json/canonical-json.ts'
import { mergePatch } from '../../runtime/api/json/merge-patch.ts'

describe('merge patch: the table of RFC 7396, appendix A', () => {
  test.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    ['{}', '{"__proto__":{"a":1},"constructor":{"b":2}}', '{"__proto__":{"a":1},"constructor":{"b":2}}'],
  ])('a merge patch follows RFC 7396: %s + %s = %s', (target, patch, want) => {
    const before = JSON.parse(target)
    expect(JSON.stringify(mergePatch(before, JSON.parse(patch)))).toBe(want)
    expect(JSON.stringify(before)).toBe(JSON.stringify(JSON.parse(target)))
    expect(({} as Record<string, unknown>).a).toBeUndefined()
  })
})

describe('canonical JSON: RFC 8785', () => {
  test.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    ['{ "a" : [ 3 , { "d":1, "c":2 } ] }', '{"a":[3,{"c":2,"d":1}]}'],
    ['[56,{"d":true,"10":null,"1":[]}]', '[56,{"1":[],"10":null,"d":true}]'],
    ['[333333333.33333329,1E30,4.50,2e-3,1e-27,-0]', '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]'],
    ['"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/"', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    [
      '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}',
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ],
  ])('canonical JSON follows RFC 8785: %s', (text, want) => {
    expect(canonicalJson(JSON.parse(text))).toBe(want)
  })
})

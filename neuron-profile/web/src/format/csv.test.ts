import { describe, expect, it } from "vitest";
import { csv, parseCsv } from "./csv";

describe("csv", () => {
  it("quotes what needs it", () => {
    expect(csv(["a", "b"], [["x,y", 'say "hi"'], ["two\nlines", 3], [null, true]])).toBe(
      'a,b\r\n"x,y","say ""hi"""\r\n"two\nlines",3\r\n,true\r\n',
    );
  });

  it("keeps formulas from a spreadsheet, and numbers as they are", () => {
    expect(csv(["n"], [["=HYPERLINK(1)"], ["-5"], ["@x"], [-5]])).toBe("n\r\n'=HYPERLINK(1)\r\n-5\r\n'@x\r\n-5\r\n");
  });

  it("reads back what it wrote", () => {
    const rows = [["x,y", 'a "b"', "two\r\nlines", ""], ["", "ä", "1", "z"]];
    expect(parseCsv(csv(["a", "b", "c", "d"], rows))).toEqual([["a", "b", "c", "d"], ...rows]);
  });
});

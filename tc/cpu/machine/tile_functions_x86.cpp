#include <utility>

#include "tc/base/str.h"
#include "tc/cpu/machine/instructions.h"
#include "tc/cpu/machine/tile_functions.h"

namespace tc::cpu {
namespace {

constexpr const char* header =
    "attributes #0 = { alwaysinline nounwind }\n"
    "declare void @llvm.x86.ldtilecfg(i8*)\n"
    "declare void @llvm.x86.tilerelease()\n"
    "declare void @llvm.x86.tilezero(i8)\n"
    "declare void @llvm.x86.tileloadd64(i8, i8*, i64)\n"
    "declare void @llvm.x86.tileloaddt164(i8, i8*, i64)\n"
    "declare void @llvm.x86.tilestored64(i8, i8*, i64)\n"
    "declare <64 x i8> @llvm.masked.load.v64i8.p0v64i8(<64 x i8>*, i32, <64 x i1>, <64 x i8>)\n";

/// The 64 bytes of a configuration: palette 1, bytes a row from byte 16 on, rows from byte 48 on.
constexpr const char* configuration =
    "define i32 @tc_tile_configure(i64 %rows, i64 %low, i64 %high) #0 {\n"
    "  %place = alloca <8 x i64>, align 64\n"
    "  %a = insertelement <8 x i64> <i64 1, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0>, i64 %low, i32 2\n"
    "  %b = insertelement <8 x i64> %a, i64 %high, i32 3\n"
    "  %c = insertelement <8 x i64> %b, i64 %rows, i32 6\n"
    "  store <8 x i64> %c, <8 x i64>* %place, align 64\n"
    "  %bytes = bitcast <8 x i64>* %place to i8*\n"
    "  call void @llvm.x86.ldtilecfg(i8* %bytes)\n"
    "  ret i32 0\n}\n"
    "define i32 @tc_tile_release() #0 {\n"
    "  call void @llvm.x86.tilerelease()\n"
    "  ret i32 0\n}\n";

/// A load or store of a whole tile.
std::string move(const char* name, const char* instruction, int tile) {
  return str("define i32 @tc_tile_", name, "_", tile, "(i8* %p, i64 %i, i64 %s) #0 {\n",
             "  %place = getelementptr i8, i8* %p, i64 %i\n", "  call void @llvm.x86.", instruction, "(i8 ", tile,
             ", i8* %place, i64 %s)\n  ret i32 0\n}\n");
}

std::string zero(int tile) {
  return str("define i32 @tc_tile_zero_", tile, "() #0 {\n  call void @llvm.x86.tilezero(i8 ", tile,
             ")\n  ret i32 0\n}\n");
}

/// Through a copy whose rows are loaded under masks.
std::string load_part(int tile) {
  return str("define i32 @tc_tile_load_part_", tile, "(i8* %p, i64 %i, i64 %s, i32 %n, i64 %m, i64 %l) #0 {\n",
             "entry:\n"
             "  %copy = alloca [16 x <64 x i8>], align 64\n"
             "  %start = getelementptr i8, i8* %p, i64 %i\n"
             "  %bottom = sub i32 %n, 1\n"
             "  br label %row\n"
             "row:\n"
             "  %r = phi i32 [ 0, %entry ], [ %next, %row ]\n"
             "  %above = icmp slt i32 %r, %bottom\n"
             "  %last = icmp eq i32 %r, %bottom\n"
             "  %rest = select i1 %last, i64 %l, i64 0\n"
             "  %bits = select i1 %above, i64 %m, i64 %rest\n"
             "  %lanes = bitcast i64 %bits to <64 x i1>\n"
             "  %wide = sext i32 %r to i64\n"
             "  %distance = mul i64 %wide, %s\n"
             "  %place = getelementptr i8, i8* %start, i64 %distance\n"
             "  %vector = bitcast i8* %place to <64 x i8>*\n"
             "  %values = call <64 x i8> @llvm.masked.load.v64i8.p0v64i8(<64 x i8>* %vector, i32 1, <64 x i1> %lanes, "
             "<64 x i8> zeroinitializer)\n"
             "  %target = getelementptr [16 x <64 x i8>], [16 x <64 x i8>]* %copy, i64 0, i64 %wide\n"
             "  store <64 x i8> %values, <64 x i8>* %target\n"
             "  %next = add i32 %r, 1\n"
             "  %more = icmp slt i32 %next, 16\n"
             "  br i1 %more, label %row, label %done\n"
             "done:\n"
             "  %bytes = bitcast [16 x <64 x i8>]* %copy to i8*\n"
             "  call void @llvm.x86.tileloadd64(i8 ",
             tile, ", i8* %bytes, i64 64)\n  ret i32 0\n}\n");
}

std::string multiply(const std::string& kind, const std::string& instruction, int c, int a, int b) {
  return str("define i32 @tc_tile_multiply_", kind, "_", c, "_", a, "_", b, "() #0 {\n  call void @llvm.x86.",
             instruction, "(i8 ", c, ", i8 ", a, ", i8 ", b, ")\n  ret i32 0\n}\n");
}

}  // namespace

std::string tile_functions() {
  std::string text = str(data_layout(), header, configuration);
  for (int tile = 0; tile < 8; ++tile)
    text += zero(tile) + move("load", "tileloadd64", tile) + move("pass", "tileloaddt164", tile) +
            move("store", "tilestored64", tile) + load_part(tile);
  for (const auto& [kind, instruction] : {std::pair<const char*, const char*>{"bf16", "tdpbf16ps"},
                                          {"ss", "tdpbssd"},
                                          {"su", "tdpbsud"},
                                          {"us", "tdpbusd"},
                                          {"uu", "tdpbuud"}}) {
    text += str("declare void @llvm.x86.", instruction, "(i8, i8, i8)\n");
    for (int c = 0; c < 4; ++c)
      for (int a = 4; a < 7; ++a)
        for (int b = 5; b < 8; ++b)
          if (a != b) text += multiply(kind, instruction, c, a, b);
  }
  return text;
}

bool is_tile_function(const std::string& name) { return name.rfind("tc_tile_", 0) == 0; }

}  // namespace tc::cpu
